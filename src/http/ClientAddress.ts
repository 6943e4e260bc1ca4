import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"

/**
 * Who a request comes from, as limits count it: an IPv4 address, or the /64 of
 * an IPv6 address, which is what one customer of a provider has. The address is
 * the socket's, or with `proxies` in front the one that many from the right of
 * X-Forwarded-For: what stands left of it is whatever the client wrote.
 */
export const of = (
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  proxies: number
): string => {
  const hops = headers["x-forwarded-for"]?.split(",") ?? []
  const forwarded = proxies === 0 ? undefined : hops.at(-proxies)
  const named = forwarded === undefined ? Option.none() : parse(forwarded.trim())
  return Option.match(
    Option.orElse(named, () => Option.flatMap(remoteAddress, parse)),
    { onNone: () => "unknown", onSome: keyOf }
  )
}

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
