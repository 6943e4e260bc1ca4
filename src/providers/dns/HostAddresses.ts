import { Effect, FileSystem, Result } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import * as Elapsed from "../../schedule/Elapsed.ts"

const hostsFile = "/etc/hosts"

/**
 * Resolves a host: `localhost` is loopback (RFC 6761), the hosts file precedes DNS, and DNS is queried for both
 * address families. The system's own look-up would use other name servers, and threads that files need.
 */
export const make = Effect.fnUntraced(function* (resolve: Dns.Dns["Service"]["resolve"]) {
  const fs = yield* FileSystem.FileSystem
  const hosts = yield* fs.readFileString(hostsFile).pipe(
    Effect.map(Host.parseHostsFile),
    Effect.orElseSucceed((): Host.HostsTable => new Map()),
    Elapsed.cached("1 minute")
  )

  const records = (name: Host.DomainName, type: "A" | "AAAA") =>
    resolve(name, type).pipe(Effect.map((found) => found.map(({ address }): NetAddress.IpAddress => address)))

  const inDns = Effect.fnUntraced(function* (name: Host.DomainName) {
    const answers = yield* Effect.all([records(name, "A"), records(name, "AAAA")], { mode: "result", concurrency: 2 })
    const addresses = answers.flatMap((answer) => (Result.isSuccess(answer) ? answer.success : []))
    if (addresses.length > 0) return addresses
    // A name has no address only if both answers say so.
    const reasons = answers.flatMap((answer) => (Result.isFailure(answer) ? [answer.failure.reason] : []))
    const reason = reasons.find((one) => one !== "NotFound") ?? "NotFound"
    return yield* new Dns.DnsError({ reason, method: "lookup", hostname: name })
  })

  return Effect.fnUntraced(function* (host: Host.DomainName) {
    const name = Host.toRelative(host)
    if (name === "localhost" || name.endsWith(".localhost")) return NetAddress.loopbackAddresses
    return (yield* hosts).get(name) ?? (yield* inDns(host))
  })
})
