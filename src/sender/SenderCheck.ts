import { domainToASCII } from "node:url"
import * as Result from "effect/Result"
import * as NodeBuffer from "../mime/NodeBuffer.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Authentication } from "../model/InboundEvent.ts"
import * as AuthenticationResults from "./AuthenticationResults.ts"
import * as DkimKey from "./DkimKey.ts"
import * as SenderDns from "./SenderDns.ts"
import * as SenderVerdicts from "./SenderVerdicts.ts"
import * as Spf from "./Spf.ts"

const everywhere = (verdict: Authentication["spf"]): Authentication => ({
  spf: verdict,
  dkim: verdict,
  dmarc: verdict,
  arc: verdict
})

/** The sender was not checked. */
export const unchecked: SenderVerdicts.Checked = {
  authentication: everywhere("none"),
  field: null,
  author: null,
  alignment: null
}

/** Verdicts given with a simulated message. */
export const given = (
  authentication: Authentication,
  { authservId }: { readonly authservId: string }
): SenderVerdicts.Checked => ({
  authentication,
  field: AuthenticationResults.renderGiven(authservId, authentication),
  author: null,
  alignment: null
})

/**
 * The verdicts for an event with this author. A pass counts only for the author's domain, so that a malformed From
 * field cannot show one domain's pass beside another domain.
 */
export const verdictsFor = (
  { author, authentication }: SenderVerdicts.Checked,
  from: string | null
): Authentication => {
  if (authentication.dmarc !== "pass") return authentication
  const named = from === null ? undefined : domainToASCII(from.slice(from.lastIndexOf("@") + 1).toLowerCase())
  return named !== undefined && named === author ? authentication : { ...authentication, dmarc: "permerror" }
}

/** The maximum header size, because the library is quadratic in folded lines and in runs of whitespace. */
const longestHeader = 256 * 1024
const mostHeaderLines = 2_000
const longestBlank = 1_024
/** The maximum number of signatures, because the library hashes and queries DNS for each, in 70 µs. */
const mostSignatures = 20
/** Three for each relay of the message. */
const mostSeals = 60
/** Of a signature or seal, because the library is quadratic in their tags and signed names. */
const longestSignature = 16 * 1024
const mostMarks = 1_000

/** A message to check. */
export interface Arrived {
  readonly envelope: Envelope
  /** As received. */
  readonly bytes: Uint8Array
  /** ISO 8601. Signatures must be valid at this time, however long the message has waited. */
  readonly receivedAt: string
}

/**
 * Checks the sender of a message. Queries only DNS, with limits of time, queries and header size. Never fails: a
 * check that cannot be made has a verdict, too.
 */
export const make = (options: {
  readonly nameServers: ReadonlyArray<string> | undefined
  readonly authservId: string
  /** Queries DNS instead of the name servers. */
  readonly instead?: SenderDns.Ask | undefined
}) => {
  const { authservId, instead, nameServers } = options
  const dns = SenderDns.make(nameServers, instead)
  const findKey = DkimKey.make()
  const findSpf = Spf.make(authservId)

  const failed = (verdict: "permerror" | "temperror"): SenderVerdicts.Checked => {
    const authentication = everywhere(verdict)
    return {
      authentication,
      field: AuthenticationResults.render(authservId, authentication),
      author: null,
      alignment: null
    }
  }

  return ({ bytes, envelope, receivedAt }: Arrived): Promise<SenderVerdicts.Checked> => {
    const message = NodeBuffer.view(bytes)
    const header = headerOf(message)
    if (isTooLarge(header)) return Promise.resolve(failed("permerror"))
    const seconds = Date.parse(receivedAt) / 1_000
    const found = Result.try(() =>
      SenderVerdicts.find(
        { envelope, message, header, authservId },
        { ask: dns(), askPolicy: dns(SenderDns.forPolicy), findKey, findSpf, seconds }
      )
    )
    return Result.isSuccess(found)
      ? found.success.catch(() => failed("temperror"))
      : Promise.resolve(failed("temperror"))
  }
}

/** Up to the first empty line, where the library ends the header. */
const headerOf = (message: Buffer): Buffer => {
  const header = until(message, "\r\n\r\n")
  return until(header, "\n\n")
}

const until = (message: Buffer, end: string) => {
  const at = message.indexOf(end)
  return at === -1 ? message : message.subarray(0, at + 4)
}

const isTooLarge = (header: Buffer): boolean => {
  if (header.length > longestHeader + 4) return true
  let lines = 0
  let blanks = 0
  for (const byte of header) {
    if (byte === 0x0a) lines++
    blanks = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? blanks + 1 : 0
    if (blanks > longestBlank) return true
  }
  if (lines > mostHeaderLines + 2) return true
  const text = header.toString("latin1")
  return (
    count(text, /(?:^|[\r\n])[\t ]*dkim-/gi) > mostSignatures ||
    count(text, /(?:^|[\r\n])[\t ]*arc-/gi) > mostSeals ||
    hasLongSignature(text)
  )
}

const hasLongSignature = (text: string): boolean => {
  const starts = /(?:^|[\r\n])[\t ]*(?:dkim|arc)-/gi
  const end = /[\r\n](?![\t\r\n ])/g
  while (starts.test(text)) {
    const from = starts.lastIndex
    end.lastIndex = from
    const field = text.slice(from, end.exec(text)?.index ?? text.length)
    if (field.length > longestSignature || count(field, /[;:]/g) > mostMarks) return true
  }
  return false
}

const count = (text: string, pattern: RegExp): number => {
  let found = 0
  while (pattern.test(text)) found++
  return found
}
