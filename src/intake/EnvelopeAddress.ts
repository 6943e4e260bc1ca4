/** Characters that no address has, also quoted: they end its line or its path, or cannot be seen. */
const refused = String.raw`\p{Cc}\u200b\u2060\ufeff<>`

const form = new RegExp(String.raw`^(?:"(?:[^${refused}"\\]|\\[ -;=?-~])+"|[^${refused}\s@]+)@[^${refused}\s@]+$`, "u")

/** A local part of 64 and a domain of 255 (RFC 5321, section 4.5.3.1). A path of 256 is exceeded by forwarders. */
const longest = 320

/**
 * Whether a text is one address of an envelope (RFC 5321, section 4.1.2), as the SMTP server accepts it: it is lenient
 * with local parts, because real senders have such.
 */
export const isValid = (text: string): boolean => text.length <= longest && form.test(text)
