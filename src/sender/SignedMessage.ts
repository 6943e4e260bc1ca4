import type { ARCData } from "mailauth"
import type * as Dkim from "./Dkim.ts"
import * as Mailauth from "./Mailauth.ts"

/** The results of header and signatures. */
export interface SignedMessage {
  /** One for each signature, or the one that says there is none, with what our field says of it. */
  readonly signatures: ReadonlyArray<{
    readonly result: string
    readonly domain: string | undefined
    readonly info: string
  }>
  /** The addresses in its From fields, and how many these are. */
  readonly authors: ReadonlyArray<string>
  readonly fromFields: number
  readonly arc: ARCData
}

/** Reads any message, whatever its form, by the letter of the RFCs. */
export const read = (message: Buffer, { ask, seconds }: Dkim.Means): Promise<SignedMessage> =>
  // Resolvers are typed by record type, which is only known here as text.
  Mailauth.dkimVerify(message, { resolver: ask as never, strict: true, curTime: seconds * 1_000 }).then(
    ({ arc, fromFields, headerFrom, results }) => ({
      signatures: results.map(({ info, signingDomain, status }) => ({
        result: status.result,
        domain: signingDomain,
        info
      })),
      authors: headerFrom,
      fromFields,
      // Made for what it is given to; it has a part that a copy would not have.
      arc: arc as ARCData
    })
  )
