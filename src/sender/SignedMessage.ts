import type { ARCData } from "mailauth"
import type * as Dkim from "./Dkim.ts"
import * as Mailauth from "./Mailauth.ts"

/** The results of header and signatures. */
export interface SignedMessage {
  /** One for each signature, or one for none, with its text in the header field. */
  readonly signatures: ReadonlyArray<{
    readonly result: string
    readonly domain: string | undefined
    readonly info: string
    /** The signed fields in lower case. None if it signs a part of the body only, to which anybody can add. */
    readonly signed: ReadonlyArray<string>
  }>
  /** The addresses in its From fields, and the number of these fields. */
  readonly authors: ReadonlyArray<string>
  readonly fromFields: number
  readonly arc: ARCData
}

const cr = 0x0d
const lf = 0x0a

/**
 * The message with CRLF for each bare LF of its body. The library does the same for each signature, with a promise for
 * each line.
 */
const withLineEnds = (message: Buffer, headerBytes: number): Buffer => {
  const isBare = (at: number) => message[at] === lf && message[at - 1] !== cr
  let count = 0
  for (let at = headerBytes; at < message.length; at++) if (isBare(at)) count++
  if (count === 0) return message
  const mended = Buffer.allocUnsafe(message.length + count)
  let end = message.copy(mended, 0, 0, headerBytes)
  for (let at = headerBytes; at < message.length; at++) {
    if (isBare(at)) mended[end++] = cr
    mended[end++] = message[at] ?? 0
  }
  return mended
}

/** Verifies a message of any form with the library. Its header has so many bytes. */
export const read = (message: Buffer, headerBytes: number, { ask, seconds }: Dkim.Means): Promise<SignedMessage> =>
  // Resolvers are typed by record type, which is only known here as text.
  Mailauth.dkimVerify(withLineEnds(message, headerBytes), {
    resolver: ask as never,
    strict: true,
    curTime: seconds * 1_000
  }).then(({ arc, fromFields, headerFrom, results }) => ({
    signatures: results.map(({ info, signingDomain, signingHeaders, status }) => ({
      result: status.result,
      domain: signingDomain,
      info,
      signed: "underSized" in status ? [] : (signingHeaders?.keys.toLowerCase().split(": ") ?? [])
    })),
    authors: headerFrom,
    fromFields,
    // Modified for its caller, because a copy would lack a property.
    arc: arc as ARCData
  }))
