import { NodeDns } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Dns } from "effect/net"
import * as Settings from "../Settings.ts"

/** Answers everything that asks DNS: `DNS_SERVERS`, or the system's. A question takes 4 s at most. */
export const layer = Layer.effect(
  Dns.Dns,
  Effect.gen(function* () {
    const { nameServers } = yield* Settings.dns
    return yield* NodeDns.make({ nameServers, timeout: "2 seconds", tries: 2 })
  })
)
