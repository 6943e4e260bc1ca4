import { isAttributed, isIntro, type Kind, kinds, mark } from "./ReplyLines.ts"
import * as ReplyWords from "./ReplyWords.ts"

/** Maximum text to search, and maximum reply. */
const longest = 64 * 1024

/**
 * Extracts the author's new text without quotation and signature. Null if that equals the text. `marked` is the text of
 * the HTML with marker lines for quotations, if any: they come first, because they are independent of language. Then
 * come the lines of mail programs around quotations. Keeps doubtful lines, because losing a word is worse than keeping
 * one too many.
 */
export const read = (mail: { readonly text: string; readonly marked: string | undefined }): string | null => {
  const { marked, text } = mail
  const seen = marked === undefined ? undefined : own(marked.slice(0, longest), false)
  const reply = seen === undefined || seen === "" ? (own(text.slice(0, longest), text.length > longest) ?? seen) : seen
  return reply === undefined || reply.trim() === text.trim() ? null : reply.toWellFormed()
}

interface Line {
  readonly line: string
  readonly kind: Kind
}
type Lines = ReadonlyArray<Line>

const isText = ({ kind }: Line) => kind === "text"
const isQuote = ({ kind }: Line) => kind === "quote"
const isBlank = ({ kind }: Line) => kind === "blank"
const isAbout = ({ kind }: Line) => kind === "intro" || kind === "head"

const own = (text: string, isCut: boolean): string | undefined => {
  const lines = text.replaceAll("\r\n", "\n").split("\n")
  const found = kinds(text, lines)
  // Most mails contain no quotation.
  if (!text.includes(mark) && found.includes("text") && found.every((kind) => kind === "text" || kind === "blank"))
    return undefined
  const all = lines.map((line, at): Line => ({ line, kind: found[at] ?? "text" }))
  if (!all.some(isText)) {
    const isQuotation = all.some(isAbout) || isIntro(all.find((line) => !isBlank(line))?.line ?? "", true)
    return isQuotation ? "" : undefined
  }
  const answered = withoutLastQuote(withoutAnswered(all), false)
  const left = withoutLastQuote(withoutSignature(answered), false).filter(({ line }) => !line.includes(mark))
  // The unsearched rest may contain the reply.
  if (left.length === all.length || (isCut && answered.length === all.length)) return undefined
  const reply = left.map(({ line }) => line).join("\n")
  const whole = text.includes(mark) ? reply.replace(/\n{3,}/g, "\n\n") : reply
  return whole.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd()
}

/** The lines without the answered mail. */
const withoutAnswered = (lines: Lines): Lines => {
  const at = lines.findIndex(isAbout)
  if (at === -1) return lines
  const top = lines.slice(0, at)
  const behind = lines.slice(at).filter((line) => !isAbout(line))
  const next = behind.find((line) => !isBlank(line))
  const hasTop = top.some(isText)
  // An unmarked quotation extends to the end.
  if (hasTop && (lines[at]?.kind === "head" || next === undefined || !isQuote(next))) return top
  const pieces = piecesOf(behind)
  // Several quotations with a reply to each belong to the reply.
  if (pieces.length > 2 || next === undefined || !isQuote(next))
    return withoutLastQuote(withoutSignature([...top, ...behind]), true)
  const answer = pieces.find(([first]) => first !== undefined && !isQuote(first)) ?? []
  return hasTop ? [...top, ...withoutFooter(answer, top)] : answer
}

/** Quotations and the text between them, alternating. */
const piecesOf = (lines: Lines): ReadonlyArray<Lines> => {
  const found: Array<Array<Line>> = []
  for (const line of lines) {
    const last = found.at(-1)
    if (isBlank(line)) last?.push(line)
    else if (last?.[0] !== undefined && isQuote(last[0]) === isQuote(line)) last.push(line)
    else found.push([line])
  }
  // Text that ends in a quotation ends before it.
  return found.length > 2 && found.at(-1)?.some(isQuote) === true ? found.slice(0, -1) : found
}

/** `isAnswered` if the quotation at the end is of the answered mail. Authors quote other things, too. */
const withoutLastQuote = (lines: Lines, isAnswered: boolean): Lines => {
  const start = lines.findLastIndex((line) => !isQuote(line) && !isBlank(line)) + 1
  const quoted = lines.slice(start).map(({ line }) => line)
  const isSure = isAnswered || isAttributed(quoted)
  const end = isSure ? start : lines.findLastIndex((line) => !isBlank(line) && !line.line.includes(mark)) + 1
  return lines.some(isText) && lines.slice(end).some(isQuote) ? lines.slice(0, end) : lines
}

/** The answer without footers of lists and companies, below a quotation with text above it. */
const withoutFooter = (answer: Lines, top: Lines): Lines => {
  const left = answer.slice(0, footerAt(answer))
  return top.some((line) => isSentence(line)) && isContact(left.filter((line) => !isBlank(line))) ? [] : left
}

/** Whether lines are a name and its contact details, not a list of them. */
const isContact = (words: Lines): boolean => {
  const found = words.map(({ line }) => ReplyWords.reachable.test(line))
  const isShort = words.length >= 3 && words.length <= 8
  return isShort && found[0] === false && found.filter(Boolean).length >= 2 && !words.some((line) => isSentence(line))
}

/** The index of the first line of a footer, or the number of lines. Mail programs break its phrase anywhere. */
const footerAt = (lines: Lines): number => {
  const at = lines.findIndex(({ line }, at) => ReplyWords.footerPhrase.test(`${lines[at - 1]?.line} ${line}`))
  const start = lines.slice(0, Math.max(0, at)).findLastIndex(isBlank) + 1
  const first = lines.slice(start, at + 1).findIndex(({ line }) => ReplyWords.footerStart.test(line))
  return first === -1 ? lines.length : start + first
}

/** `many` words are a sentence without a mark at their end. */
const isSentence = ({ line }: Line, many = 6): boolean => {
  const text = line.trim()
  const words = text.split(/\s+/)
  if (words.length >= 2 * many || /[。？！]$/.test(text)) return true
  const isFull = words.length >= many || (words.length >= 3 && ReplyWords.full.test(text))
  return isFull && !/https?:|www\.|@|\d{5,}/.test(text)
}

/** The maximum lines below a signature separator. */
const mostBelow = 50

/** The lines before a signature separator, without a phone's footer. */
const withoutSignature = (lines: Lines): Lines => {
  const first = lines.findIndex(isText)
  let end = lines.findLastIndex((line) => !isBlank(line)) + 1
  for (let at = end - 1; at > first && at >= end - mostBelow; at--) {
    const line = lines[at]
    if (line?.kind === "divider" && isDrawn(line.line, lines.slice(at + 1, end))) end = at
  }
  const last = lines.slice(0, end).findLastIndex((line) => isText(line) || isQuote(line))
  // In the middle it is a phone's footer only on a line of its own.
  const isAlone = (at: number) => lines[at - 1]?.kind === "blank" && lines[at + 1]?.kind === "blank"
  const isPhone = ({ kind, line }: Line, at: number) => kind === "device" && line.length <= 80 && isAlone(at)
  return last < first ? lines : lines.slice(0, last + 1).filter((line, at) => !isPhone(line, at))
}

/** Whether a line is a signature separator, not a rule between paragraphs. Only `-- ` with its space is certain. */
const isDrawn = (line: string, below: Lines): boolean => {
  if (/^(?:--\s+|ᐧ)$/.test(line)) return true
  const words = below.slice(0, footerAt(below)).filter(({ kind }) => kind !== "blank" && kind !== "divider")
  // Authors put a blank line on both sides of their rules.
  if (words[0] !== below[0]) return words.length === 0 || isContact(words)
  if (/^_{10,}\s*$/.test(line)) return words.length <= 15 && !below.slice(0, words.length).some(isBlank)
  if (/^(?:--|—|–)$/.test(line)) return !words.some((one) => isSentence(one, 12))
  const isReachable = words.length <= 3 || words.some((one) => ReplyWords.reachable.test(one.line))
  return words.length <= 8 && isReachable && !words.some((one) => isSentence(one) || /\s\S*[.?!…]\s*$/.test(one.line))
}
