import { isIPv4 } from "node:net"
import { Option, Result } from "effect"
import { NetAddress } from "effect/net"

/**
 * The client behind an address, as limits count it: an IPv4 address, or the /64 of an
 * IPv6 address, which is what one customer of a provider has.
 */
export const of = (text: string): Option.Option<string> =>
  isIPv4(text) ? Option.some(text) : Option.map(parse(text), keyOf)

/** The same, and the text itself where it is no address. */
export const ofAnything = (text: string): string => Option.getOrElse(of(text), () => text)

/** An address as sockets and proxies write it: alone or with a port, with a zone or in brackets. */
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
