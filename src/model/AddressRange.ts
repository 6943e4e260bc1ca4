import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address, or a network with the length of its prefix in bits. */
export type AddressRange = readonly [network: Address, bits: number]

const mappedBits = 96

/**
 * Reads an address (192.0.2.7) or a network (192.0.2.0/24, 2001:db8::/32). IPv4 in IPv6 form becomes IPv4. Undefined for
 * other texts, also for those that are another network than they seem: 192.168.1/24 is 192.168.0.0/24 to inet_aton, and
 * 010.0.0.1 is 8.0.0.1.
 */
export const parse = (text: string): AddressRange | undefined => {
  const [, address = "", length] = /^([^/%]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  const bits = Number(length ?? most)
  if (family === 0 || bits > most) return undefined
  const network = ipaddr.parse(address)
  return network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= mappedBits
    ? [network.toIPv4Address(), bits - mappedBits]
    : [network, bits]
}

/** The range from its first address on, and an address without a length. */
export const format = ([network, bits]: AddressRange): string => {
  const text = `${network.toString()}/${bits}`
  if (network instanceof ipaddr.IPv4) {
    return bits === 32 ? network.toString() : `${ipaddr.IPv4.networkAddressFromCIDR(text).toString()}/${bits}`
  }
  return bits === 128 ? network.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(text).toString()}/${bits}`
}

/** The ranges of settings and rules, which were checked before. */
export const parseAll = (texts: ReadonlyArray<string>): ReadonlyArray<AddressRange> =>
  texts.flatMap((text) => {
    const range = parse(text)
    return range === undefined ? [] : [range]
  })

export const matches = (ranges: ReadonlyArray<AddressRange>, address: Address) =>
  ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

/** Whether an address is in one of these ranges. An IPv4 address in IPv6 form counts as IPv4. */
export const contains = (texts: ReadonlyArray<string>) => {
  const ranges = parseAll(texts)
  // The default of most settings, on the path of each message.
  if (ranges.length === 0) return () => false
  return (address: string): boolean => isIP(address) !== 0 && matches(ranges, ipaddr.process(address))
}
