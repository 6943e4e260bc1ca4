/**
 * Takes away the blanks behind boundary lines, which RFC 2046, section 5.1.1,
 * allows, and behind which the parser finds no part. Looks at each line once.
 */
export const trim = (message: Buffer): Buffer => {
  const text = message.toString("latin1")
  const boundaries = new Set<string>()
  for (const [, quoted, bare] of text.matchAll(/\bboundary\s*=\s*(?:"([^"]{1,200})"|([^\s";]{1,200}))/gi)) {
    boundaries.add(quoted ?? bare ?? "")
  }
  const isBoundary = (name: string) =>
    boundaries.has(name) || (name.endsWith("--") && boundaries.has(name.slice(0, -2)))

  const kept: Array<Buffer> = []
  let from = 0
  for (let feed = text.indexOf("\n--"); feed !== -1; feed = text.indexOf("\n--", feed + 1)) {
    const next = text.indexOf("\n", feed + 1)
    const end = next === -1 ? text.length : next - (text[next - 1] === "\r" ? 1 : 0)
    const line = text.slice(feed + 1, end).trimEnd()
    if (feed + 1 + line.length < end && isBoundary(line.slice(2))) {
      kept.push(message.subarray(from, feed + 1 + line.length))
      from = end
    }
  }
  kept.push(message.subarray(from))
  return Buffer.concat(kept)
}
