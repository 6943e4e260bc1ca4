/**
 * The text of a local part. A quoted string is the mailbox of what it quotes: `"jane"`, `"j\ane"` and `jane` are one
 * (RFC 5321, section 4.1.2).
 */
export const unquoted = (localPart: string): string =>
  localPart.startsWith('"')
    ? localPart.replace(/^"(.*)"$/s, (_, text: string) => text.replace(/\\(.)/gs, "$1"))
    : localPart
