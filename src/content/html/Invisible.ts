import * as TextLooks from "./TextLooks.ts"

/**
 * Invisible code points: controls, tags, zero-width characters, direction marks, soft hyphens, fillers, and lone
 * variation selectors.
 */
const invisible =
  /(?:[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f])+/gu

/** Letters whose joining depends on a zero-width joiner or non-joiner between them. */
const joining =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u

const picture = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u

/** Text after U+202E, which is shown in reverse order. */
const overridden = /\u202e([^\u202c\u202e\n]*)\u202c?/g

/** Whether it reverses text that follows it. */
export const isReversing = (text: string): boolean => text.lastIndexOf("\u202e") > text.lastIndexOf("\u202c")

const before = (text: string, at: number) => {
  const code = text.charCodeAt(at - 1)
  return code >= 0xdc00 && code <= 0xdfff ? text.slice(at - 2, at) : text.slice(at - 1, at)
}

const after = (text: string, at: number) => String.fromCodePoint(text.codePointAt(at) ?? 0x20)

/** The visible text, and text encoded in invisible code points. */
export const without = (text: string): { readonly seen: string; readonly hidden: string } => {
  if (!TextLooks.hasUnseen(text)) return { seen: text, hidden: "" }
  let hidden = ""
  const ordered = text.includes("\u202e")
    ? text.replace(overridden, (_, part: string) => [...part].reverse().join(""))
    : text
  const seen = ordered.replace(invisible, (run: string, at: number) => {
    for (const character of run) {
      const code = character.codePointAt(0) ?? 0
      if (code >= 0xe0020 && code < 0xe007f) hidden += String.fromCharCode(code - 0xe0000)
      else if (code >= 0xe0100 && code <= 0xe01ef) hidden += String.fromCharCode(Math.min(126, code - 0xe0100 + 16))
    }
    const [left, right] = [before(ordered, at), after(ordered, at + run.length)]
    if (run === "\u200c" || run === "\u200d") {
      if (joining.test(left) && joining.test(right)) return run
      if (run === "\u200d" && picture.test(left) && picture.test(right)) return run
      return ""
    }
    if (run === "\ufe0f\u200d" && picture.test(left) && picture.test(right)) return run
    if ((run === "\ufe0f" || run === "\ufe0e") && (picture.test(left) || /[#*\d]/.test(left))) return run
    return ""
  })
  return { seen, hidden }
}

/** Whether it contains anything readable for a person or a program. */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

const codePoints = (text: string): number => {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--
  return count
}

/** The number of invisible code points that `without` leaves out. Reversed text counts its marks. */
export const count = (text: string, { seen } = without(text)): number =>
  text === seen ? 0 : codePoints(text) - codePoints(seen)
