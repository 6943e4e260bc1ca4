import * as ReplyWords from "./ReplyWords.ts"

/**
 * The kind of a line: quoted, an attribution ("intro"), a header field before an unquoted mail ("head"), a rule, or a
 * phone's footer.
 */
export type Kind = "text" | "blank" | "quote" | "intro" | "head" | "divider" | "device"

type Kinds = ReadonlyArray<Kind>
type Lines = ReadonlyArray<string>

/** Replaces what HTML marks as quotation or signature. */
export const mark = "[[quotation-9b1d5e27]]"

/** Longer lines are text. */
const longest = 300

const isDated = (text: string) =>
  ReplyWords.time.test(text) || ReplyWords.year.test(text) || ReplyWords.twoNumbers.test(text)

const isBegun = (text: string) =>
  ReplyWords.opens.test(text) || ReplyWords.startsWithNumber.test(text) || ReplyWords.startsWithAddress.test(text)

/** Checks for an attribution line, possibly broken over several lines. `isQuoted` if marked quotation follows. */
export const isIntro = (text: string, isQuoted: boolean): boolean => {
  const line = text.replace(ReplyWords.directions, "").replace(/^[\s>*<_-]+/, "")
  if (line.length < 6 || line.length > longest) return false
  const hasAddress = ReplyWords.address.test(line)
  const isVia = ReplyWords.viaSomething.test(line)
  const hasDay = ReplyWords.year.test(line) || ReplyWords.time.test(line)
  if (!isQuoted && !hasAddress && !isVia && !hasDay) return false
  const says = ReplyWords.wrote.test(line)
  const begins = isBegun(line) || isVia
  if (isQuoted && ReplyWords.ends.test(line))
    return (says && !ReplyWords.told.test(line)) || hasAddress || (begins && isDated(line))
  if (!says) return ReplyWords.dayAndZone.test(line) || (hasDay && ReplyWords.dayAndAddress.test(line))
  if (hasAddress && ReplyWords.opens.test(line) && ReplyWords.wroteInside.test(line)) return isDated(line)
  return begins && ReplyWords.ends.test(line)
}

/**
 * The maximum calls of `isIntro` for one text: a fixed number, plus one for a number of lines. Further lines are
 * text.
 */
const mostLooks = 500
const linesOfALook = 4

interface Looks {
  left: number
}

/** What a text contains. Most contain none of it, and one search of the text costs less than one of each line. */
interface Contained {
  readonly mark: boolean
  readonly above: boolean
  readonly device: boolean
}

/** The kind of each line of a text. Examines each line a bounded number of times. */
export const kinds = (text: string, lines: Lines): Kinds => {
  const code = codeIn(lines)
  const has: Contained = {
    mark: text.includes(mark),
    above: text.includes("above"),
    device: ReplyWords.mayHaveDevice(text)
  }
  const hasColon = text.includes(":") || text.includes("：")
  const looks: Looks = { left: mostLooks + lines.length / linesOfALook }
  const fields = hasColon ? lines.map(fieldOf) : []
  const found: Array<Kind> = []
  for (const [at, line] of lines.entries()) {
    found.push(code.has(at) ? "text" : kindOf(line, found[at - 1], has))
  }
  const mayEnd = lines.map((line, at) => found[at] !== "blank" && mayEndIntro(line, found[at + 1]))
  let end = mayEnd.indexOf(true)
  let isBehindIntro = false
  for (let at = 0; at < lines.length; at++) {
    if (found[at] !== "text" || code.has(at)) continue
    if (end !== -1 && end < at) end = mayEnd.indexOf(true, at)
    const isNear = end !== -1 && end < at + mostLines
    const intro = isNear ? introAt(lines, found, mayEnd, at, looks) : 0
    const size = intro || headAt(lines, found, fields, at)
    if (size > 0) {
      found.fill(intro > 0 ? "intro" : "head", at, at + size)
      if (intro === 0 && ReplyWords.dashed.test(lines[at - 1] ?? "")) found[at - 1] = "head"
      at += size - 1
      isBehindIntro ||= intro > 0
    } else if (isBehindIntro && (ReplyWords.quotedByName.test(lines[at] ?? "") || isBroken(lines, found, at)))
      found[at] = "quote"
  }
  return found
}

/** The start of most text lines, and never of a blank, quoted or rule line: an ASCII letter or digit. */
const isPlain = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39)

const kindOf = (line: string, before: Kind | undefined, has: Contained): Kind => {
  const start = line.slice(0, longest)
  const isWords = isPlain(start.charCodeAt(0))
  if (!isWords && start.trim() === "") return "blank"
  if ((has.mark && start.includes(mark)) || (!isWords && ReplyWords.quoted.test(start))) return "quote"
  if (line.length > longest) return "text"
  if (!isWords && ReplyWords.divider.test(start)) return "divider"
  if (ReplyWords.head.test(start) || (has.above && start.includes("above") && ReplyWords.above.test(start)))
    return "head"
  if (line.length > 160 || before === "text" || before === "quote") return "text"
  return ReplyWords.isDevice(start, has.device) ? "device" : "text"
}

/** Fenced code is text. */
const codeIn = (lines: Lines): ReadonlySet<number> => {
  const code = new Set<number>()
  let start = -1
  for (let end = 0; end < lines.length; end++) {
    if (lines[end]?.startsWith("```") !== true) continue
    for (let at = start; start !== -1 && at <= end; at++) code.add(at)
    start = start === -1 ? end : -1
  }
  return code
}

/** The wrapped end of a quoted line, without a mark between marked lines. */
const isBroken = (lines: Lines, found: Kinds, at: number): boolean => {
  const before = lines[at - 1] ?? ""
  const isBetween = found[at - 1] === "quote" && found[at + 1] === "quote"
  return isBetween && before.length >= 60 && !/[.?!:]\s*$/.test(before) && /^\p{Ll}/u.test(lines[at] ?? "")
}

/** The maximum lines of an attribution. */
const mostLines = 5

/** Number of lines of an attribution from this line on, or 0. Mail programs break it anywhere. */
const introAt = (lines: Lines, found: Kinds, mayEnd: ReadonlyArray<boolean>, at: number, looks: Looks): number => {
  if (!/\d|[@<:：]| via /.test(lines[at] ?? "")) return 0
  let joined = ""
  for (let last = at; last < at + mostLines && last < lines.length; last++) {
    const line = (lines[last] ?? "").trim()
    if (found[last] === "head" || joined.length + line.length > longest) return 0
    // Accepts a blank line only before an address in brackets.
    if (line === "" && !/^\s*<\s*$/.test(lines[last + 1] ?? "")) return 0
    joined = `${joined} ${line}`.replace(ReplyWords.directions, "").trim()
    if (mayEnd[last] !== true || ReplyWords.wroteAlone.test(lines[last + 1] ?? "")) continue
    let next = last + 1
    while (found[next] === "blank" && next < last + 4) next++
    const isQuoted = found[next] === "quote"
    if (looks.left-- < 1) return 0
    if (isIntro(joined, isQuoted && (last === at || isBegun(joined)))) {
      return beginsLater(lines.slice(at, last + 1), isQuoted, looks) ? 0 : last + 1 - at
    }
  }
  return 0
}

/** Ends of sentences and quotations after which no attribution ends. */
const closing = new Set([...'!?,;"”’»'].map((mark) => mark.charCodeAt(0)))

/** Checked first, because it is cheap and excludes most lines. */
const mayEndIntro = (line: string, next: Kind | undefined) => {
  const last = line.charCodeAt(line.length - 1)
  const isBefore = (next === "quote" || next === "blank") && !closing.has(last)
  return (
    (!isPlain(last) && /[:：>*_-][\s\u200e-\u202e]*$/.test(line.slice(-4))) ||
    (isBefore && ReplyWords.ends.test(line.slice(-24))) ||
    (line.includes("@") && ReplyWords.wroteInside.test(line.slice(0, longest))) ||
    ReplyWords.dayAndZone.test(line)
  )
}

/** Lines before an attribution are not part of it. */
const beginsLater = (lines: Lines, isQuoted: boolean, looks: Looks): boolean => {
  let later = ""
  for (let at = lines.length - 1; at > 0; at--) {
    later = `${(lines[at] ?? "").trim()} ${later}`.trim()
    looks.left--
    const isStart =
      ReplyWords.opens.test(later) ||
      ReplyWords.startsWithDate.test(later) ||
      (ReplyWords.startsWithNumber.test(later) && !isBegun(lines[0] ?? ""))
    if (isStart && !/^\p{Ll}/u.test(later) && isDated(later) && isIntro(later, isQuoted)) return true
  }
  return false
}

/** The header field at the start of a line, up to its colon. */
const fieldOf = (line: string): string | undefined => {
  const at = line.slice(0, 41).search(/[:：]/)
  return at <= 0 ? undefined : ReplyWords.fieldOf(line.slice(0, at + 1))
}

/** Whether marked lines begin with an attribution line or the header of a mail. */
export const isAttributed = (quoted: Lines): boolean => {
  const words = quoted.slice(0, 2 * mostLines).map((line) => line.replace(/^[\s>]+/, ""))
  const [first = "", ...more] = words.filter((line) => line !== "").slice(0, mostLines)
  if (ReplyWords.head.test(first) || fieldOf(first) === "from" || isIntro(first, false)) return true
  return more.some((_, at) => isIntro([first, ...more.slice(0, at + 1)].join(" "), false))
}

/** Number of lines of a quoted mail header from this line on, or 0. */
const headAt = (lines: Lines, found: Kinds, fields: ReadonlyArray<string | undefined>, start: number): number => {
  if (fields[start] === undefined) return 0
  const values = new Map<string, string>()
  let end = start
  for (let at = start; at < lines.length && at <= end + 2 && at < start + 24; at++) {
    const name = fields[at]
    if (name !== undefined) {
      values.set(name, lines[at] ?? "")
      end = at + 1
    } else if (found[at] === "blank" && found[at + 1] === "blank") break
  }
  // Authors write fields, too, but hardly a full date with a time and the address or subject of a mail.
  const above = lines.slice(Math.max(0, start - 3), start).findLast((line) => line.trim() !== "") ?? ""
  const isBelow = ReplyWords.head.test(above) || ReplyWords.ruled.test(above) || ReplyWords.dashed.test(above)
  const date = (values.get("date") ?? "").slice(0, longest)
  const isSent = ReplyWords.timeOfDay.test(date) && ReplyWords.fourNumbers.test(date)
  const isMail = values.has("subject") || (values.get("from") ?? "").includes("@")
  return values.size >= 3 && (isBelow || (isSent && isMail)) ? end - start : 0
}
