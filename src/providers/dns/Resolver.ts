import * as NodeDns from "@effect/platform-node/NodeDns"
import { Effect, Layer } from "effect"
import { Dns } from "effect/net"
import * as Settings from "../../Settings.ts"
import * as HostAddresses from "./HostAddresses.ts"

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
    return Dns.Dns.of({ ...dns, resolve, lookup })
  })
)
