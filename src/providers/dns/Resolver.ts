import * as NodeDns from "@effect/platform-node/NodeDns"
import { Effect, Layer } from "effect"
import { Dns } from "effect/net"
import * as Settings from "../../Settings.ts"
import * as HostAddresses from "./HostAddresses.ts"

const own = new WeakSet<Dns.Dns["Service"]>()

/** Marks a resolver as one of Inlet's own, which asks `DNS_SERVERS`. */
export const markOwn = (dns: Dns.Dns["Service"]): Dns.Dns["Service"] => {
  own.add(dns)
  return dns
}

/** Whether a resolver is one of Inlet's own, and not that of a program or a test. */
export const isOwn = (dns: Dns.Dns["Service"]): boolean => own.has(dns)

/** The resolver of all DNS queries: `DNS_SERVERS`, or the system's. A query takes at most 4 s. */
export const layer = Layer.effect(
  Dns.Dns,
  Effect.gen(function* () {
    const { nameServers } = yield* Settings.dns
    const dns = yield* NodeDns.make({ nameServers, timeout: "1 second", tries: 2 })
    // The resolver's own timeouts do not limit a query, because it waits longer at every attempt and tries each
    // server.
    const resolve: typeof dns.resolve = (name, type) =>
      dns.resolve(name, type).pipe(
        Effect.timeoutOrElse({
          duration: "4 seconds",
          orElse: () =>
            Effect.fail(
              new Dns.DnsError({ reason: "Timeout", method: "resolve", hostname: String(name), recordType: type })
            )
        })
      )
    const { lookup } = Dns.make({ lookup: yield* HostAddresses.make(resolve) })
    return markOwn(Dns.Dns.of({ ...dns, resolve, lookup }))
  })
)
