const LF = 0x0a
const CR = 0x0d

/**
 * The message with line feeds, where its lines end in carriage returns alone, as
 * some old programs write them. The length stays, so that offsets do too. A stray
 * carriage return before the last line feed is content.
 */
export const withFeeds = (message: Uint8Array): Uint8Array => {
  let end = message.length
  if (message[end - 1] === LF) end--
  if (message[end - 1] === CR) end--
  const from = message.subarray(0, end).lastIndexOf(LF) + 1
  if (!message.subarray(from, end).includes(CR)) return message
  const fed = Uint8Array.from(message)
  for (let at = fed.indexOf(CR, from); at !== -1 && at < end; at = fed.indexOf(CR, at + 1)) fed[at] = LF
  return fed
}

/** Text whose lines end in line feeds. A run of carriage returns is looked at once, whether or not it ends in one. */
export const unified = (text: string): string => {
  if (!text.includes("\r")) return text
  const fed = text.replace(/\r\n/g, "\n")
  return fed.includes("\r") ? text.replace(/(?<!\r)\r*\n|\r/g, "\n") : fed
}

/** Text without line ends; a carriage return that stands elsewhere is kept. */
export const unfolded = (text: string): string => (text.includes("\n") ? text.replace(/(?<!\r)\r*\n/g, "") : text)
