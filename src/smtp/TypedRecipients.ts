/**
 * Keeps recipients as typed. smtp-server decodes every A-label, also invalid ones (`xn--test-` becomes `test`), and
 * passes the command line only to its logger.
 */
export const make = () => {
  const lines = new Map<string, string>()
  return {
    /** The messages that smtp-server passes to its logger. */
    heard: (entry: { readonly [key: string]: unknown }, line: unknown) => {
      if (entry.tnx === "command" && entry.command === "RCPT") lines.set(`${entry.cid}`, `${line}`)
    },
    /** The address of the current RCPT command, with its domain as typed. */
    address: (sessionId: string, parsed: string): string => {
      const domain = /<[^<>]*@([^<>@]+)>/.exec(lines.get(sessionId) ?? "")?.[1]
      if (domain === undefined) return parsed
      // Other full stops are separators too (RFC 3490, section 3.1).
      return `${parsed.slice(0, parsed.lastIndexOf("@"))}@${domain.replace(/[\u3002\uff0e\uff61]/g, ".")}`
    },
    forget: (sessionId: string) => void lines.delete(sessionId)
  }
}
