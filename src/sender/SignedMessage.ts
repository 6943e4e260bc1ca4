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

/** Verifies a message of any form with the library. */
export const read = (message: Buffer, { ask, seconds }: Dkim.Means): Promise<SignedMessage> =>
  // Resolvers are typed by record type, which is only known here as text.
  Mailauth.dkimVerify(message, { resolver: ask as never, strict: true, curTime: seconds * 1_000 }).then(
    ({ arc, fromFields, headerFrom, results }) => ({
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
    })
  )
