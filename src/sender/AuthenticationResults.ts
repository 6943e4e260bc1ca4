import libmime from "libmime"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as HeaderText from "../mime/HeaderText.ts"
import * as LineEnds from "../mime/LineEnds.ts"
import type { Authentication } from "../model/InboundEvent.ts"

/** Maximum length of the field. A longer one is shortened to its verdicts. */
const longest = 16 * 1024

const isNamed = (name: string) => name.toLowerCase() === "authentication-results"

/** Whether a field claims to be from this server (RFC 8601, section 5). */
export const isOurs = (name: string, value: string, authservId: string): boolean =>
  isNamed(name) && identifierOf(value) === authservId.toLowerCase()

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

/** What to put into a message. */
export interface Put {
  /** Inlet's field, or null if the sender was not checked. */
  readonly authenticationResults: string | null
  readonly authservId: string
}

/** The message with Inlet's field in front, without forged ones in its name. */
export const put = ({ message, ...task }: Put & { readonly message: Uint8Array }): Uint8Array => {
  const [header, rest] = split(message)
  return Buffer.concat([...pieces({ ...task, header, isWhole: rest.byteLength === 0 }), rest])
}

/** The part of a message in which the field is searched, and the rest. */
export const split = (message: Uint8Array): readonly [header: Uint8Array, rest: Uint8Array] => [
  message.subarray(0, longestHeader),
  message.subarray(longestHeader)
]

/** The same as `put` for the searched part alone. `isWhole` is false if a rest follows. */
export const putInHeader = (task: Put & { readonly header: Uint8Array; readonly isWhole: boolean }): Uint8Array =>
  Buffer.concat(pieces(task))

const pieces = ({
  authenticationResults,
  authservId,
  header,
  isWhole
}: Parameters<typeof putInHeader>[0]): ReadonlyArray<Uint8Array> => {
  const { end, fields } = HeaderBlock.read(LineEnds.withFeeds(header))
  const isCut = !isWhole && !hasEnd(header, end)
  const kept: Array<Uint8Array> = authenticationResults === null ? [] : [Buffer.from(authenticationResults)]
  let from = 0
  for (const candidate of isCut ? fields.slice(0, -1) : fields) {
    // Decoding all values would take long.
    if (!isNamed(candidate.name) || !isOurs(candidate.name, HeaderText.rawValue(candidate), authservId)) continue
    kept.push(header.subarray(from, candidate.start))
    from = candidate.end
  }
  if (isCut) {
    const last = fields.at(-1)?.start ?? 0
    kept.push(header.subarray(from, last), Buffer.from("\r\n"))
    from = last
  }
  kept.push(header.subarray(from))
  return kept
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
      const [, quoted, token] = /^(?:"((?:[^"\\]|\\.){0,255})"|([^\s;("]{1,255}))/.exec(value.slice(at, at + 512)) ?? []
      return (quoted?.replace(/\\(.)/g, "$1") ?? token ?? "").toLowerCase()
    }
  }
  return ""
}
