import { crc32 } from "node:zlib"
import type { DomainId } from "../../model/Domain.ts"
import type { InboundEmailId } from "../../model/InboundEmail.ts"

/** The message of a record, and its domain. */
export interface Owner {
  readonly id: InboundEmailId
  readonly domainId: DomainId
}

/** The content of a record. An erased one has only the id. */
export type Found =
  | { readonly tag: "message"; readonly message: Uint8Array }
  | { readonly tag: "erased" }
  | { readonly tag: "damaged"; readonly reason: string }

/** Length of the header: magic, kind, three zeros, length, CRC-32 of the message, its id and its domain's. */
export const headBytes = 48

const magic = Buffer.from("inR1", "latin1")
const kinds = { message: 1, erased: 2 } as const
const at = { kind: 4, length: 8, crc: 12, id: 16, domain: 32 }
const idBytes = 16

const putId = (head: Buffer, id: string, offset: number) => void head.write(id.replaceAll("-", ""), offset, "hex")

const hasId = (head: Buffer, id: string, offset: number) =>
  head.toString("hex", offset, offset + idBytes) === id.replaceAll("-", "").toLowerCase()

const headOf = (kind: keyof typeof kinds, id: InboundEmailId, length: number): Buffer => {
  const head = Buffer.alloc(headBytes)
  magic.copy(head)
  head.writeUInt8(kinds[kind], at.kind)
  head.writeUInt32LE(length, at.length)
  putId(head, id, at.id)
  return head
}

export const lengthOf = (message: ReadonlyArray<Uint8Array>) =>
  message.reduce((bytes, { byteLength }) => bytes + byteLength, 0)

/** The header of a message. */
export const head = ({ domainId, id }: Owner, message: ReadonlyArray<Uint8Array>): Buffer => {
  const head = headOf("message", id, lengthOf(message))
  head.writeUInt32LE(
    message.reduce((crc, piece) => crc32(piece, crc), 0),
    at.crc
  )
  putId(head, domainId, at.domain)
  return head
}

/** The header of an erased message. */
export const erasedHead = (id: InboundEmailId, bytes: number): Buffer => headOf("erased", id, bytes)

/** Decodes the header of any record, or undefined without one. */
export const readHead = (head: Buffer): { readonly isMessage: boolean; readonly bytes: number } | undefined =>
  head.byteLength < headBytes || !head.subarray(0, magic.byteLength).equals(magic)
    ? undefined
    : { isMessage: head.readUInt8(at.kind) === kinds.message, bytes: head.readUInt32LE(at.length) }

/** Why this is not the header of that record. Undefined if it is, erased or not. */
export const mismatch = (head: Buffer, id: InboundEmailId, bytes: number): string | undefined => {
  if (head.byteLength < headBytes || !head.subarray(0, magic.byteLength).equals(magic)) return "no record begins there"
  const kind = head.readUInt8(at.kind)
  if (kind !== kinds.message && kind !== kinds.erased) return `a record of kind ${kind} is unknown`
  if (!hasId(head, id, at.id)) return "the record there is another message's"
  if (head.readUInt32LE(at.length) !== bytes) return "the record there has another length"
  return undefined
}

/** The message of a record, verified byte for byte. */
export const read = (record: Buffer, { domainId, id }: Owner, bytes: number): Found => {
  const reason = mismatch(record, id, bytes)
  if (reason !== undefined) return { tag: "damaged", reason }
  if (record.readUInt8(at.kind) === kinds.erased) return { tag: "erased" }
  if (!hasId(record, domainId, at.domain)) return { tag: "damaged", reason: "the record there is another domain's" }
  const message = record.subarray(headBytes)
  if (message.byteLength !== bytes) return { tag: "damaged", reason: "the segment ends in the middle of it" }
  if (crc32(message) !== record.readUInt32LE(at.crc)) return { tag: "damaged", reason: "its bytes have changed" }
  return { tag: "message", message }
}
