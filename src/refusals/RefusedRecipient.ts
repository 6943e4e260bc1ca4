/** The maximum length of an address (RFC 5321, section 4.5.3.1.3, and its errata). */
const longest = 254

/** Escapes a recipient for a log line, because the sender controls it. */
export const inWords = (address: string): { readonly recipient: string; readonly recipient_domain: string } => {
  const recipient = address
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd")
    .slice(0, longest)
    .toWellFormed()
  return { recipient, recipient_domain: recipient.slice(recipient.lastIndexOf("@") + 1) }
}
