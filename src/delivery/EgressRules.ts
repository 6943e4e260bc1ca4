import ipaddr from "ipaddr.js"
import { type Address, type AddressRange, matches, parseAll } from "../model/AddressRange.ts"

/** Returns why an address is forbidden, or undefined if it is allowed. */
export type Judge = (address: string) => "is not a public address" | "is a denied address" | undefined

/** The operator's rules: allowed addresses take precedence over denied ones, and those over private ones. */
export const make = (rules: {
  readonly allowPrivate: boolean
  readonly allow: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
}): Judge => {
  const allowed = parseAll(rules.allow)
  const denied = parseAll(rules.deny)
  return (text) => {
    const address = ipaddr.parse(text)
    const [mapped, ...embedded] = ipv4Within(address)
    // The kernel treats a mapped address as IPv4, and gateways may translate the other forms.
    if (matchesOne(allowed, [address, mapped])) return undefined
    if (matchesOne(denied, [address, mapped, ...embedded])) return "is a denied address"
    return rules.allowPrivate || isPublic(address) ? undefined : "is not a public address"
  }
}

const matchesOne = (ranges: ReadonlyArray<AddressRange>, addresses: ReadonlyArray<Address | undefined>) =>
  addresses.some((address) => address !== undefined && matches(ranges, address))

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Checks that an address is in no special-purpose range (RFC 6890), and that IPv6 is global unicast. */
const isPublic = (address: Address) =>
  address.range() === "unicast" && (address.kind() === "ipv4" || address.match(globalUnicast))

/** The IPv6 prefixes that embed an IPv4 address, mapped addresses first. */
const carriers: ReadonlyArray<readonly [range: AddressRange, from: number]> = [
  [ipaddr.IPv6.parseCIDR("::ffff:0:0/96"), 12],
  [ipaddr.IPv6.parseCIDR("::/96"), 12],
  [ipaddr.IPv6.parseCIDR("::ffff:0:0:0/96"), 12],
  [ipaddr.IPv6.parseCIDR("64:ff9b::/96"), 12],
  [ipaddr.IPv6.parseCIDR("2002::/16"), 2]
]

const ipv4Within = (address: Address): ReadonlyArray<Address | undefined> =>
  address.kind() === "ipv4"
    ? []
    : carriers.map(([[network, bits], from]) =>
        address.match(network, bits) ? ipaddr.fromByteArray(address.toByteArray().slice(from, from + 4)) : undefined
      )
