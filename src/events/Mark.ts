import { createHash } from "node:crypto"
import type { DomainId } from "../model/Domain.ts"

/** The kind of a mark: `cursor_now` of a list, or `next_cursor` of one in this order. */
export type Kind = "now" | Order
export type Order = "asc" | "desc"

export interface Mark {
  readonly kind: Kind
  readonly position: bigint
}

const kinds: ReadonlyArray<Kind> = ["now", "asc", "desc"]

/** A byte for the kind, eight for the position. */
const placeBytes = 9
const checkBytes = 6

/**
 * Encodes a position among the events of a domain as text for clients. It stays valid after the event is deleted,
 * exists before the first event, and is valid for one domain only.
 */
export const encode = (domainId: DomainId, { kind, position }: Mark): string => {
  const place = Buffer.alloc(placeBytes)
  place.writeUInt8(kinds.indexOf(kind))
  place.writeBigUInt64BE(position, 1)
  return Buffer.concat([place, checkOf(domainId, place)]).toString("base64url")
}

/** The form of every mark, whatever its domain. */
export const form = /^[\w-]{20}$/

export const decode = (domainId: DomainId, text: string): Mark | undefined => {
  if (!form.test(text)) return undefined
  const bytes = Buffer.from(text, "base64url")
  const place = bytes.subarray(0, placeBytes)
  const kind = kinds[place.readUInt8()]
  // As Postgres has positions. A larger one would fail there.
  const position = place.readBigInt64BE(1)
  return kind !== undefined && position >= 0n && checkOf(domainId, place).equals(bytes.subarray(placeBytes))
    ? { kind, position }
    : undefined
}

/** Detects marks of other domains and typing errors. A forged mark gains nothing. */
const checkOf = (domainId: DomainId, place: Uint8Array) =>
  createHash("sha256").update(domainId).update(place).digest().subarray(0, checkBytes)
