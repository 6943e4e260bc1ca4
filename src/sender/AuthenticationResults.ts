import libmime from "libmime"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as HeaderText from "../mime/HeaderText.ts"
import * as LineEnds from "../mime/LineEnds.ts"
import type { Authentication } from "../model/InboundEvent.ts"

/** Maximum length of the field. A longer one is shortened to its verdicts. */
const longest = 16 * 1024

/** Whether a field claims to be from this server (RFC 8601, section 5). */
export const isOurs = (name: string, value: string, authservId: string): boolean =>
  name.toLowerCase() === "authentication-results" && identifierOf(value) === authservId.toLowerCase()

/** Writes the header field with the result of each method (RFC 8601, section 2.2), or only the verdicts if too long. */
export const render = (authservId: string, verdicts: Authentication, told?: ReadonlyArray<string>): string => {
  const full = told === undefined ? undefined : HeaderText.clean(list(authservId, told)).trim()
  return full !== undefined && full.length <= longest
    ? `${full}\r\n`
    : `Authentication-Results: ${authservId};\r\n\tspf=${verdicts.spf}; dkim=${verdicts.dkim}; dmarc=${verdicts.dmarc}; arc=${verdicts.arc}\r\n`
}

/** The field for simulated verdicts, or null without any. */
export const renderGiven = (authservId: string, verdicts: Authentication): string | null =>
  Object.values(verdicts).every((verdict) => verdict === "none") ? null : render(authservId, verdicts)

const list = (authservId: string, told: ReadonlyArray<string>) =>
  `Authentication-Results: ${authservId}${told.map((info) => `;\r\n ${libmime.foldLines(info, 160)}`).join("")}`

/** The maximum header to search. The rest counts as body, in which no verifier looks for the field. */
const longestHeader = 1024 * 1024

/** The message with Inlet's field in front, without forged ones in its name. */
export const put = (message: Uint8Array, field: string | null, authservId: string): Uint8Array => {
  const header = message.subarray(0, longestHeader)
  const { end, fields } = HeaderBlock.read(LineEnds.withFeeds(header))
  const isCut = header.byteLength < message.byteLength && !hasEnd(header, end)
  const kept: Array<Uint8Array> = field === null ? [] : [Buffer.from(field)]
  let from = 0
  for (const candidate of isCut ? fields.slice(0, -1) : fields) {
    if (!isOurs(candidate.name, HeaderText.rawValue(candidate), authservId)) continue
    kept.push(message.subarray(from, candidate.start))
    from = candidate.end
  }
  if (isCut) {
    const last = fields.at(-1)?.start ?? 0
    kept.push(message.subarray(from, last), Buffer.from("\r\n"))
    from = last
  }
  kept.push(message.subarray(from))
  return Buffer.concat(kept)
}

/** Checks for the end of a header: an empty line, or a complete line that is not a field. */
const hasEnd = (header: Uint8Array, end: number): boolean =>
  header.includes(0x0a, end) ||
  /(?:^|\n)\r*\n$/.test(Buffer.from(header.subarray(Math.max(0, end - 4), end)).toString("latin1"))

/** The authserv-id: a token or quoted string after comments and whitespace (RFC 8601, section 2.2). */
const identifierOf = (value: string): string => {
  let depth = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at]
    if (character === "\\" && depth > 0) at++
    else if (character === "(") depth++
    else if (character === ")") depth = Math.max(0, depth - 1)
    else if (depth === 0 && character !== undefined && !/\s/.test(character)) {
      const [, quoted, token] = /^(?:"([^"]{0,255})"|([^\s;("]{1,255}))/.exec(value.slice(at, at + 260)) ?? []
      return (quoted ?? token ?? "").toLowerCase()
    }
  }
  return ""
}
