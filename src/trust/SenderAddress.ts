import { domainToASCII } from "node:url"
import * as LocalPart from "../model/LocalPart.ts"

/** The domain of an address in lower case as A-labels. Empty without one. */
export const domainOf = (address: string): string => {
  const at = address.lastIndexOf("@")
  if (at === -1) return ""
  let name = address.slice(at + 1).toLowerCase()
  // A pattern would try each of the dots in the middle, too.
  while (name.endsWith(".")) name = name.slice(0, -1)
  return /^[a-z0-9.-]*$/.test(name) ? name : domainToASCII(name)
}

/** An address for comparison: in lower case, its local part without quotes, its domain as A-labels. */
export const canonical = (address: string): string => {
  const localPart = LocalPart.unquoted(address.slice(0, Math.max(0, address.lastIndexOf("@"))))
  return `${localPart.toLowerCase()}@${domainOf(address)}`
}

/** Senders as rules are compared with them. Made once, because a header may name thousands and a domain has 200 rules. */
export interface Senders {
  readonly addresses: ReadonlySet<string>
  readonly domains: ReadonlySet<string>
}

export const sendersOf = (given: ReadonlyArray<string>): Senders => {
  const addresses = new Set(given.map(canonical))
  return { addresses, domains: new Set([...addresses].map((address) => address.slice(address.lastIndexOf("@") + 1))) }
}

/** Whether a rule's value takes a sender: the whole address, its domain (`example.com`), or a parent (`*.example.com`). */
export const takesOne = (value: string, { addresses, domains }: Senders): boolean => {
  if (value.includes("@")) return addresses.has(value)
  if (!value.startsWith("*.")) return domains.has(value)
  const end = value.slice(1)
  return [...domains].some((domain) => domain.endsWith(end) && domain.length > end.length)
}

/** The same for one address. */
export const matches = (value: string, address: string): boolean => takesOne(value, sendersOf([address]))
