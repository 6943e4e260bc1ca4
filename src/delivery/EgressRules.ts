import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [network: Address, bits: number]

/** Returns why an address is forbidden, or undefined if it is allowed. */
export type Judge = (address: string) => "is not a public address" | "is a denied address" | undefined

/** The operator's rules: allowed addresses take precedence over denied ones, and those over private ones. */
export const make = (rules: {
  readonly allowPrivate: boolean
  readonly allow: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
}): Judge => {
  const allowed = rules.allow.map(rangeOf)
  const denied = rules.deny.map(rangeOf)
  return (text) => {
    const address = ipaddr.parse(text)
    const [mapped, ...embedded] = ipv4Within(address)
    // The kernel treats a mapped address as IPv4, and gateways may translate the other forms.
    if (matches(allowed, [address, mapped])) return undefined
    if (matches(denied, [address, mapped, ...embedded])) return "is a denied address"
    return rules.allowPrivate || isPublic(address) ? undefined : "is not a public address"
  }
}

const rangeOf = (text: string): Range => {
  if (text.includes("/")) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.kind() === "ipv4" ? 32 : 128]
}

const matches = (ranges: ReadonlyArray<Range>, addresses: ReadonlyArray<Address | undefined>) =>
  ranges.some(([network, bits]) =>
    addresses.some((address) => address?.kind() === network.kind() && address.match(network, bits))
  )

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Checks that an address is in no special-purpose range (RFC 6890), and that IPv6 is global unicast. */
const isPublic = (address: Address) =>
  address.range() === "unicast" && (address.kind() === "ipv4" || address.match(globalUnicast))

/** The IPv6 prefixes that embed an IPv4 address, mapped addresses first. */
const carriers: ReadonlyArray<readonly [range: Range, from: number]> = [
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
