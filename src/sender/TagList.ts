/**
 * Parses the tags of a list by name (RFC 6376, section 3.2), with whitespace in values collapsed. Undefined for an
 * invalid list, or with anything but printable ASCII.
 */
export const read = (text: string): ReadonlyMap<string, string> | undefined => {
  if (!/^[\t\r\n -~]*$/.test(text)) return undefined
  const specs = text.split(";")
  // A final semicolon is allowed.
  if (specs.length > 1 && /^\s*$/.test(specs.at(-1) ?? "")) specs.pop()
  const tags = new Map<string, string>()
  for (const spec of specs) {
    const equals = spec.indexOf("=")
    const name = spec.slice(0, Math.max(0, equals)).trim()
    if (!/^[A-Za-z]\w*$/.test(name) || tags.has(name)) return undefined
    tags.set(
      name,
      spec
        .slice(equals + 1)
        .trim()
        .replace(/\s+/g, " ")
    )
  }
  return tags
}
