/**
 * Splits a value at these characters outside of brackets, into parts without surrounding spaces. Closes what the end of
 * the value leaves open, as browsers do.
 */
export const split = (value: string, separators: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let start = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ""
    if (character === "(") depth++
    else if (character === ")") depth--
    else if (depth === 0 && separators.includes(character)) {
      parts.push(value.slice(start, at).trim())
      start = at + 1
    }
  }
  parts.push(`${value.slice(start)}${")".repeat(Math.max(0, depth))}`.trim())
  return parts
}

/** The same without empty parts. */
export const words = (value: string, separators: string): ReadonlyArray<string> =>
  split(value, separators).filter((part) => part !== "")
