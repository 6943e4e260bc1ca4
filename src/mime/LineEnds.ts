import * as NodeBuffer from "./NodeBuffer.ts"

const LF = 0x0a
const CR = 0x0d

/**
 * Replaces CR by LF if the lines of a message end in CR alone, as from some old programs. The length and offsets stay
 * the same. A stray CR before the last LF is content.
 */
export const withFeeds = (message: Uint8Array): Uint8Array => {
  let end = message.length
  if (message[end - 1] === LF) end--
  if (message[end - 1] === CR) end--
  // Buffer's search is native. That of a Uint8Array takes 20 times as long.
  const from = NodeBuffer.view(message.subarray(0, end)).lastIndexOf(LF) + 1
  if (!NodeBuffer.view(message.subarray(from, end)).includes(CR)) return message
  const fed = new Uint8Array(message)
  // A search for each CR would take ten times as long for a MiB of them.
  for (let at = from; at < end; at++) if (fed[at] === CR) fed[at] = LF
  return fed
}

/** Normalizes line ends to LF. A run of CR is examined once, with or without a final LF. */
export const unified = (text: string): string => {
  if (!text.includes("\r")) return text
  // A replaced text is made of pieces, which makes each later step through its characters take three times as long.
  const fed = text.split("\r\n").join("\n")
  return fed.includes("\r") ? text.replace(/(?<!\r)\r*\n|\r/g, "\n") : fed
}

/** Removes line ends. A CR elsewhere is kept. */
export const unfolded = (text: string): string => (text.includes("\n") ? text.replace(/(?<!\r)\r*\n/g, "") : text)
