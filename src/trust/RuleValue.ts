import * as AddressRange from "../model/AddressRange.ts"
import { longestValue, type SenderMatch } from "../model/SenderRule.ts"
import * as SenderAddress from "./SenderAddress.ts"

const forms: { readonly [Match in SenderMatch]: string } = {
  author: "Expected an address (ada@example.com), a domain (example.com), or its subdomains (*.example.com)",
  envelope: "Expected an address (ada@example.com), a domain (example.com), or its subdomains (*.example.com)",
  network: "Expected an IP address (192.0.2.7) or a network (192.0.2.0/24, 2001:db8::/32)"
}

/** What a kind of rule takes instead of this text, for an error. */
export const expected = (match: SenderMatch, text: string): string =>
  match !== "network" && network(text.trim()) !== undefined
    ? `${forms[match]}. For the network of the server that sent the mail, set match to network`
    : forms[match]

/** The value of a rule in the form in which mail is compared with it. Undefined if it is malformed. */
export const canonical = (match: SenderMatch, text: string): string | undefined => {
  const typed = text.trim()
  if (typed.length > longestValue) return undefined
  if (match === "network") return network(typed)
  if (typed.includes("@")) return address(typed)
  const [, star = "", name = ""] = /^(\*\.)?(.+)$/.exec(typed) ?? []
  const domain = domainIn(name)
  return domain === undefined ? undefined : `${star}${domain}`
}

const address = (typed: string): string | undefined => {
  const one = SenderAddress.canonical(typed)
  return /^[^\s\p{C}@"(),:;<>*[\\\]]{1,64}@/u.test(one) && domainIn(SenderAddress.domainOf(typed)) !== undefined
    ? one
    : undefined
}

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

const domainIn = (typed: string): string | undefined => {
  const name = SenderAddress.domainOf(`@${typed}`)
  const labels = name.split(".")
  // An address has digits at its end.
  const isName = labels.length > 1 && name.length <= 253 && !/^\d*$/.test(labels.at(-1) ?? "")
  return isName && labels.every((part) => label.test(part)) ? name : undefined
}

const network = (typed: string): string | undefined => {
  const range = AddressRange.parse(typed)
  return range === undefined ? undefined : AddressRange.format(range)
}
