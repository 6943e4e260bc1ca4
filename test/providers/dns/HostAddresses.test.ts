import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import * as HostAddresses from "../../../src/providers/dns/HostAddresses.ts"

const hostsFile = `
127.0.0.1      localhost
192.168.0.9    printer printer.lan # ours
fd00::9        printer
`

/** Looks up addresses with this hosts file and one DNS answer for each type. */
const find = Effect.fnUntraced(function* (host: string, dns: { readonly A: Answer; readonly AAAA: Answer }) {
  const questions: Array<string> = []
  const { resolve } = Dns.make({
    lookup: () => Effect.die("not asked here"),
    resolve: (name, type) => {
      questions.push(`${type} ${name}`)
      const answer = type === "A" || type === "AAAA" ? dns[type] : "NotFound"
      return typeof answer === "string"
        ? Effect.fail(new Dns.DnsError({ reason: answer, method: "resolve", hostname: name, recordType: type }))
        : Effect.succeed([answer])
    }
  })
  const lookup = yield* Effect.provideService(
    HostAddresses.make(resolve),
    FileSystem.FileSystem,
    FileSystem.makeNoop({ readFileString: () => Effect.succeed(hostsFile) })
  )
  const found = yield* Effect.result(lookup(Host.domainNameFromStringUnsafe(host)))
  return { found: Result.isSuccess(found) ? found.success.map(NetAddress.formatIp) : found.failure.reason, questions }
})

type Answer = Dns.DnsRecord | Dns.DnsErrorReason

const a = Dns.makeRecordUnsafe("A", { address: NetAddress.ipv4FromBytesUnsafe(Uint8Array.of(192, 0, 2, 1)) })
const aaaa = Dns.makeRecordUnsafe("AAAA", { address: NetAddress.ipv6Loopback })

describe("The addresses of a host", () => {
  it.effect("come from the hosts file, without DNS, if it has the name", () =>
    Effect.gen(function* () {
      for (const name of ["printer", "PRINTER", "printer."]) {
        assert.deepStrictEqual(yield* find(name, { A: a, AAAA: aaaa }), {
          found: ["192.168.0.9", "fd00::9"],
          questions: []
        })
      }
    })
  )

  it.effect("are loopback for localhost and its subdomains", () =>
    Effect.gen(function* () {
      for (const name of ["localhost", "LocalHost.", "app.localhost"]) {
        assert.deepStrictEqual(yield* find(name, { A: a, AAAA: aaaa }), { found: ["127.0.0.1", "::1"], questions: [] })
      }
    })
  )

  it.effect("come from both address families, or from one if the other fails", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* find("x.example", { A: a, AAAA: aaaa }), {
        found: ["192.0.2.1", "::1"],
        questions: ["A x.example", "AAAA x.example"]
      })
      for (const failure of ["NotFound", "Timeout", "ServerFailure"] as const) {
        assert.deepStrictEqual((yield* find("x.example", { A: a, AAAA: failure })).found, ["192.0.2.1"])
        assert.deepStrictEqual((yield* find("x.example", { A: failure, AAAA: aaaa })).found, ["::1"])
      }
    })
  )

  it.effect("are absent only if both families say so", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* find("x.example", { A: "NotFound", AAAA: "NotFound" })).found, "NotFound")
      assert.strictEqual((yield* find("x.example", { A: "NotFound", AAAA: "Timeout" })).found, "Timeout")
      assert.strictEqual((yield* find("x.example", { A: "ServerFailure", AAAA: "NotFound" })).found, "ServerFailure")
    })
  )
})
