import * as Result from "effect/Result"
import type { ARCData, ParsedHeader } from "mailauth"
import * as Dkim from "./Dkim.ts"
import * as DkimSignature from "./DkimSignature.ts"
import * as Mailauth from "./Mailauth.ts"
import * as PlainHeader from "./PlainHeader.ts"
import type { SignedMessage } from "./SignedMessage.ts"

/** A message in the usual form, which is unambiguous and cheap to verify. */
export interface OrdinaryMessage {
  readonly fields: ReadonlyArray<PlainHeader.PlainField>
  readonly author: string
  readonly signatures: ReadonlyArray<DkimSignature.DkimSignature>
  /** Its ARC sets (RFC 8617), and the signature of the last one. */
  readonly arc: ARCData
  readonly sealed: DkimSignature.DkimSignature | undefined
}

const mostSignatures = 5

/** Undefined if anything in the header is ambiguous. */
export const open = (header: Buffer): OrdinaryMessage | undefined => {
  const fields = PlainHeader.fields(header.toString("latin1"))
  const author = fields && PlainHeader.author(fields)
  if (fields === undefined || author === undefined) return undefined
  const signed = fields.filter(({ name }) => name === "dkim-signature")
  if (signed.length > mostSignatures) return undefined
  const signatures = signed.flatMap((field) => DkimSignature.read(field) ?? [])
  const arc = chain(fields)
  const seal = arc.lastEntry?.["arc-message-signature"]
  const sealed = seal && DkimSignature.readSealed(messageSignature(seal))
  return signatures.length < signed.length || (seal !== undefined && sealed === undefined)
    ? undefined
    : { fields, author, signatures, arc, sealed }
}

/** The library returns a field's bytes, although its type is text. */
const messageSignature = ({ original }: ParsedHeader): PlainHeader.PlainField => ({
  name: "arc-message-signature",
  line: Buffer.from(original ?? "").toString("latin1")
})

const chain = (fields: ReadonlyArray<PlainHeader.PlainField>): ARCData => {
  const parsed = fields.flatMap(({ line, name }) =>
    name.startsWith("arc-") ? [{ key: name, line: Buffer.from(line, "latin1") }] : []
  )
  if (parsed.length === 0) return { chain: [] }
  const sets = Result.try({
    try: () => Mailauth.getARChain({ parsed }, { strict: true }) || [],
    // It throws only Error objects.
    catch: (error) => error as Error
  })
  if (Result.isFailure(sets)) return { chain: [], error: sets.failure }
  const last = sets.success.at(-1)
  return last === undefined ? { chain: [] } : { chain: sets.success, lastEntry: last }
}

/** Verifies its signatures. Undefined if a key is unusual. */
export const verify = (
  { arc, author, fields, sealed, signatures }: OrdinaryMessage,
  body: Buffer,
  means: Dkim.Means
): Promise<SignedMessage | undefined> =>
  Dkim.verify(sealed === undefined ? signatures : [...signatures, sealed], fields, body, means).then((verified) => {
    if (verified === undefined) return undefined
    const [seal] = verified.slice(signatures.length)
    if (arc.lastEntry !== undefined && seal !== undefined) {
      // Other parts are ignored.
      arc.lastEntry.messageSignature = { status: seal.outcome, info: "" }
    }
    const own = verified.slice(0, signatures.length).map((one) => ({
      result: one.outcome.result,
      domain: one.signature.domain,
      info: Dkim.info(one),
      signed: one.signature.names
    }))
    return { signatures: own.length === 0 ? [unsigned] : own, authors: [author], fromFields: 1, arc }
  })

const unsigned = { result: "none", domain: undefined, signed: [], info: "dkim=none (message not signed)" }
