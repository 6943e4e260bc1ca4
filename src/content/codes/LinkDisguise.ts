import { parse } from "tldts"

/** Names within the site of a cloud or of a page of its customers are sites of their own: a.github.io, b.github.io. */
const suffixes = { allowPrivateDomains: true } as const

/** The host of an address within a text. */
const address = /(?:https?:\/\/|\bwww\.)[^\s/?#<>"'()[\]{}|,;]+/i
/** A text that is an address without a scheme: acme.com, acme.com/verify. */
const bare =
  /^[^\p{L}\p{N}]{0,3}([\p{L}\p{N}_-]{1,63}(?:\.[\p{L}\p{N}_-]{1,63}){1,8})(?:[:/?#]\S*)?[^\p{L}\p{N}]{0,3}$/u
const longest = 200

const hostOf = (text: string): string =>
  URL.parse(/^https?:/i.test(text) ? text : `https://${text}`)?.hostname.replace(/\.+$/, "") ?? ""

/** The host that a text names, or empty. A name such as Node.js has no public suffix. */
const hostIn = (text: string): string => {
  const [named] = address.exec(text) ?? []
  if (named !== undefined) return hostOf(named)
  const [, name] = bare.exec(text) ?? []
  if (name === undefined) return ""
  const { isIcann, isPrivate } = parse(name, suffixes)
  return isIcann === true || isPrivate === true ? hostOf(name) : ""
}

const isSameSite = (one: string, other: string): boolean => {
  if (one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`)) return true
  const { domain } = parse(one, suffixes)
  return domain !== null && domain === parse(other, suffixes).domain
}

/**
 * Whether the text of a link has the address of another site than the link opens, or the URL begins with a name that
 * is none (`a.example@`).
 */
export const isIn = (text: string, url: string): boolean => {
  const shown = hostIn(text.slice(0, longest))
  return (shown !== "" && !isSameSite(shown, hostOf(url))) || (url.includes("@") && URL.parse(url)?.username !== "")
}
