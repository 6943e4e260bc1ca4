import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import * as SenderQueries from "../../src/reading/SenderQueries.ts"

const queriesOf = <E, R>(dns: Layer.Layer<Dns.Dns, E, R>) =>
  Effect.provide(SenderQueries.SenderQueries, SenderQueries.layer.pipe(Layer.provide(dns)))

const ask = Effect.fnUntraced(function* (dns: Dns.Dns["Service"], name: string, type: string) {
  const answers = yield* queriesOf(Layer.succeed(Dns.Dns, dns))
  return yield* answers?.(name, type) ?? Effect.die("no answers")
})

const name = Host.domainNameFromStringUnsafe("host.example.")

const zone = Dns.makeStatic({
  records: {
    "host.example": [
      Dns.makeRecordUnsafe("A", { address: NetAddress.ipv4Loopback }),
      Dns.makeRecordUnsafe("AAAA", { address: NetAddress.ipv6Loopback }),
      Dns.makeRecordUnsafe("CNAME", { target: name }),
      Dns.makeRecordUnsafe("MX", { exchange: name, priority: 10 }),
      Dns.makeRecordUnsafe("PTR", { host: name }),
      Dns.makeRecordUnsafe("TXT", { chunks: ["v=spf1 ", "é"] })
    ]
  }
})

describe("The DNS queries of sender checks", () => {
  it.effect("stay in the parser threads with Inlet's own resolver", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* queriesOf(Resolver.layer))
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.effect.each([
    ["A", ["127.0.0.1"]],
    ["AAAA", ["::1"]],
    ["CNAME", ["host.example"]],
    ["MX", [{ exchange: "host.example", priority: 10 }]],
    ["PTR", ["host.example"]],
    ["TXT", [["v=spf1 ", "Ã©"]]]
  ] as const)("get %s records in the form of node:dns", ([type, records]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask(yield* Effect.fromResult(zone), "host.example", type), { records })
    })
  )

  it.effect("get the code of node:dns for a failure", () =>
    Effect.gen(function* () {
      const dns = yield* Effect.fromResult(zone)
      assert.deepStrictEqual(yield* ask(dns, "unknown.example", "TXT"), { code: "ENOTFOUND" })
      assert.deepStrictEqual(yield* ask(dns, "two..dots", "TXT"), { code: "EBADNAME" })
      assert.deepStrictEqual(yield* ask(dns, "host.example", "SOA"), { code: "ENOTIMP" })
      const cause = { code: "ENODATA" }
      const empty = Dns.make({
        lookup: () => Effect.die("unused"),
        resolve: (hostname) => Effect.fail(new Dns.DnsError({ reason: "NotFound", method: "resolve", hostname, cause }))
      })
      assert.deepStrictEqual(yield* ask(empty, "host.example", "A"), { code: "ENODATA" })
    })
  )
})
