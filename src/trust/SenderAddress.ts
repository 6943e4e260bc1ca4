import { domainToASCII } from "node:url"
import * as LocalPart from "../model/LocalPart.ts"

/** The domain of an address in lower case as A-labels. Empty without one. */
export const domainOf = (address: string): string => {
  const at = address.lastIndexOf("@")
  const name = address
    .slice(at + 1)
    .toLowerCase()
    .replace(/\.+$/, "")
  if (at === -1) return ""
  return /^[a-z0-9.-]*$/.test(name) ? name : domainToASCII(name)
}

/** An address for comparison: in lower case, its local part without quotes, its domain as A-labels. */
export const canonical = (address: string): string => {
  const localPart = LocalPart.unquoted(address.slice(0, Math.max(0, address.lastIndexOf("@"))))
  return `${localPart.toLowerCase()}@${domainOf(address)}`
}

/** Whether a rule's value takes an address: the whole of it, its domain (`example.com`), or a parent (`*.example.com`). */
export const matches = (value: string, address: string): boolean => {
  if (value.includes("@")) return value === canonical(address)
  const domain = domainOf(address)
  return value.startsWith("*.") ? domain.endsWith(value.slice(1)) && domain.length >= value.length : value === domain
}
