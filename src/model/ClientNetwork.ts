import { isIPv4 } from "node:net"
import { Option, Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * The client of an address for limits: an IPv4 address, or the /64 of an IPv6 address, which a provider assigns to
 * one customer.
 */
export const of = (text: string): Option.Option<string> =>
  isIPv4(text) ? Option.some(text) : Option.map(parse(text), keyOf)

/** The same, or the text itself if it is not an address. */
export const ofAnything = (text: string): string => Option.getOrElse(of(text), () => text)

/** Parses an address as written by sockets and proxies: with an optional port, zone or brackets. */
const parse = (text: string): Option.Option<NetAddress.IpAddress> => {
  const bare = text.replace(/%[\w.-]+/, "").replace(/^\[(.*)\]$/, "$1")
  return Result.getSuccess(NetAddress.ipFromString(bare)).pipe(
    Option.orElse(() => Option.map(Result.getSuccess(NetAddress.inetAddressFromString(bare)), ({ address }) => address))
  )
}

const keyOf = (address: NetAddress.IpAddress): string => {
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  return Option.match(NetAddress.fromIpv4Mapped(address), {
    onSome: NetAddress.formatIp,
    onNone: () => {
      const network = NetAddress.ipv6ToSegments(address).slice(0, 4)
      return `${network.map((segment) => segment.toString(16)).join(":")}::/64`
    }
  })
}
