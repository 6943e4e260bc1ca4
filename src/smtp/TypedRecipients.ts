/**
 * Keeps the lines of `MAIL` and `RCPT` as typed. smtp-server decodes every A-label, also invalid ones (`xn--test-`
 * becomes `test`), keeps nothing of a refused `MAIL`, and passes command lines only to its logger.
 */
export const make = () => {
  const lines = new Map<string, string>()
  const mails = new Map<string, string>()
  return {
    /** The messages that smtp-server passes to its logger. */
    heard: (entry: { readonly [key: string]: unknown }, line: unknown) => {
      if (entry.tnx !== "command") return
      if (entry.command === "RCPT") lines.set(`${entry.cid}`, `${line}`)
      else if (entry.command === "MAIL") mails.set(`${entry.cid}`, `${line}`)
    },
    /** The address of the current RCPT command, with its domain as typed. */
    address: (sessionId: string, parsed: string): string => {
      const domain = /<[^<>]*@([^<>@]+)>/.exec(lines.get(sessionId) ?? "")?.[1]
      if (domain === undefined) return parsed
      // Other full stops are separators too (RFC 3490, section 3.1).
      return `${parsed.slice(0, parsed.lastIndexOf("@"))}@${domain.replace(/[\u3002\uff0e\uff61]/g, ".")}`
    },
    /** The path in the last RCPT command, also if it was refused. */
    path: (sessionId: string): string | undefined => /<([^<>]*)>/.exec(lines.get(sessionId) ?? "")?.[1],
    /** The sender and the size in the last MAIL command, also if it was refused. */
    mail: (sessionId: string) => {
      const line = mails.get(sessionId) ?? ""
      const size = / SIZE=(\d{1,15})\b/i.exec(line)?.[1]
      return { from: /<([^<>]*)>/.exec(line)?.[1] ?? null, bytes: size === undefined ? null : Number(size) }
    },
    forget: (sessionId: string) => {
      lines.delete(sessionId)
      mails.delete(sessionId)
    }
  }
}
