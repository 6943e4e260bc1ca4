/** The longest address there is (RFC 5321, section 4.5.3.1.3, and its errata). */
const longest = 254

/** A recipient for a line of the log. A stranger typed it: nothing in it may steer a terminal or break the line. */
export const inWords = (address: string): { readonly recipient: string; readonly recipient_domain: string } => {
  const recipient = address
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd")
    .slice(0, longest)
    .toWellFormed()
  return { recipient, recipient_domain: recipient.slice(recipient.lastIndexOf("@") + 1) }
}
