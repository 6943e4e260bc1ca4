import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as DnsChecks from "../../src/health/DnsChecks.ts"
import { DnsLook, type Found } from "../../src/health/DnsLook.ts"
import type { HealthCheck } from "../../src/health/HealthCheck.ts"
import { DomainName } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as FakeDns from "../../src/testing/FakeDns.ts"

const own = {
  domain: DomainName.make("example.com"),
  mx_target: "mx.inlet.test",
  origin: "byo",
  status: "mx_pending",
  txt_name: "_service-verify.example.com",
  txt_value: "service_verify_1"
} as const

const workspaceId = WorkspaceId.make("01981c9e-0000-7000-8000-000000000001")
const otherWorkspaceId = WorkspaceId.make("01981c9e-0000-7000-8000-000000000002")

const ours = { "mx.inlet.test": { addresses: ["203.0.113.5"] } }

type Mx = NonNullable<FakeDns.Records["MX"]>

const lines = (checks: ReadonlyArray<HealthCheck>) =>
  checks.map(
    ({ check, message, remedy, status }) => `${status} ${check}: ${message}${remedy === null ? "" : ` → ${remedy}`}`
  )

const looked = (zones: Readonly<Record<string, FakeDns.Records>>) =>
  DnsLook.use((look) => look.at(workspaceId, own.domain, own.txt_name)).pipe(
    Effect.provide(Layer.provide(DnsLook.layer, FakeDns.make(zones).layer))
  )

/** The checks of MX records in production. */
const mx = (records: Mx, more: Readonly<Record<string, FakeDns.Records>> = ours, isRelayed = false) =>
  Effect.map(looked({ "example.com": { MX: records }, ...more }), (found) =>
    lines(DnsChecks.mx(own, found, { isNearby: false, isRelayed }))
  )

const txt = (found: Pick<Found, "texts">, status: "mx_pending" | "pending_verification") =>
  lines(DnsChecks.txt({ ...own, status }, found))

describe("The check of the TXT record", () => {
  it.effect("accepts the right value, names another one, and says what to publish", () =>
    Effect.gen(function* () {
      const of = (TXT: ReadonlyArray<string>) => looked({ [own.txt_name]: { TXT } })
      assert.deepStrictEqual(txt(yield* of(["v=spf1", "service_verify_1"]), "pending_verification"), [
        "ok txt: The TXT record at _service-verify.example.com has the right value"
      ])
      assert.match(
        txt(yield* of(["service_verify_2\u0007"]), "pending_verification").join(),
        /^error txt: The TXT record at \S+ has another value: service_verify_2\uFFFD → Publish it at your DNS provider: name _service-verify\.example\.com, type TXT, value service_verify_1\./
      )
      assert.match(
        txt(yield* of([]), "pending_verification").join(),
        /^error txt: There is no TXT record at .* → Publish it/
      )
      assert.match(txt(yield* of([]), "mx_pending").join(), /^ok txt: There is no TXT record .*already verified/)
    })
  )

  it.effect("has no result while DNS does not answer", () =>
    Effect.gen(function* () {
      const dns = FakeDns.make({ [own.txt_name]: { TXT: ["service_verify_1"] } })
      yield* dns.will("fail", "resolve")
      const found = yield* DnsLook.use((look) => look.at(workspaceId, own.domain, own.txt_name)).pipe(
        Effect.provide(Layer.provide(DnsLook.layer, dns.layer))
      )
      assert.match(
        txt(found, "pending_verification").join(),
        /^unknown txt: DNS did not answer .*\(ServerFailure\) → Retry in a minute/
      )
      assert.match(
        lines(DnsChecks.mx(own, found, { isNearby: false, isRelayed: false })).join(),
        /^unknown mx: .*\(ServerFailure\)/
      )
    })
  )
})

describe("The check of the MX records", () => {
  it.effect("accepts the mail host of the service, with its priority and addresses", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* mx([{ priority: 10, exchange: "MX.Inlet.Test." }]), [
        "ok mx: The MX record of example.com with priority 10 is mx.inlet.test",
        "ok mx_host: mx.inlet.test (priority 10) is the mail host of this service, at 203.0.113.5"
      ])
    })
  )

  it.effect("says what to publish without a record, with records of others, and with a null MX", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* mx([])).join(),
        /^error mx: example\.com has no MX record, .* → Publish it at your DNS provider: name example\.com \(often written @\), type MX, priority 10, value mx\.inlet\.test\./
      )
      assert.match(
        (yield* mx([{ priority: 5, exchange: "mail.other.example" }]))[0] ?? "",
        /^error mx: The MX records of example\.com do not name mx\.inlet\.test, so its mail goes elsewhere: mail\.other\.example \(priority 5\) → Publish/
      )
      assert.match(
        (yield* mx([{ priority: 0, exchange: "." }])).join(),
        /^error mx: .*takes no mail \(RFC 7505\) → Remove that record\. Publish/
      )
    })
  )

  it.effect("warns of the records of others, if a relay has a key to hand mail over", () =>
    Effect.gen(function* () {
      const relay = [{ priority: 5, exchange: "relay.example" }]
      assert.match(
        (yield* mx(relay, ours, true))[0] ?? "",
        /^warning mx: The MX records of example\.com name relay\.example \(priority 5\), so mail arrives only if that hands it over with an ingest key → Leave them if they are those of your relay\. Otherwise: Publish/
      )
      assert.match((yield* mx([], ours, true)).join(), /^error mx: example\.com has no MX record/)
    })
  )

  it.effect("recognizes a value that the DNS provider has completed by the domain", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* mx([{ priority: 10, exchange: "mx.inlet.test.example.com" }]))[0] ?? "",
        /^error mx: .*has added the domain to the value → Change the value to "mx\.inlet\.test\." with a dot at its end$/
      )
      assert.match(
        (yield* mx([{ priority: 10, exchange: "192.0.2.1.example.com" }]))[1] ?? "",
        /^error mx_host: 192\.0\.2\.1\.example\.com \(priority 10\) is an address, and an MX record must be the name of a host/
      )
    })
  )

  it.effect("tells apart a second host that takes all mail, a part of it, and only mail in an outage", () =>
    Effect.gen(function* () {
      const zones = { ...ours, "mail.other.example": { addresses: ["198.51.100.7"] } }
      const beside = (priority: number) =>
        mx(
          [
            { priority: 10, exchange: "mx.inlet.test" },
            { priority, exchange: "mail.other.example" }
          ],
          zones
        )
      assert.match(
        (yield* beside(5))[1] ?? "",
        /^error mx_elsewhere: .*all mail goes to mail\.other\.example \(priority 5\) while that answers/
      )
      assert.match((yield* beside(10))[1] ?? "", /^error mx_elsewhere: A part of the mail goes to mail\.other\.example/)
      assert.match(
        (yield* beside(20))[1] ?? "",
        /^warning mx_elsewhere: Mail goes to mail\.other\.example \(priority 20\) while mx\.inlet\.test does not answer/
      )
      assert.include(
        yield* beside(20),
        "ok mx_host: mail.other.example (priority 20) belongs to another service, at 198.51.100.7"
      )
    })
  )

  it.effect("names a host without an address", () =>
    Effect.gen(function* () {
      const found = yield* mx(
        [
          { priority: 10, exchange: "mx.inlet.test" },
          { priority: 20, exchange: "gone.example" }
        ],
        {}
      )
      assert.match(
        found[2] ?? "",
        /^error mx_host: mx\.inlet\.test .*has no address in DNS \(NotFound\) → This is for the operator/
      )
      assert.match(
        found[3] ?? "",
        /^warning mx_host: gone\.example .*has no address in DNS \(NotFound\) → Correct or remove this MX record/
      )
    })
  )

  it.effect("says what to correct at a host that no retry finds", () =>
    Effect.gen(function* () {
      const hosts = [
        { host: "mail..other.example", priority: 20, addresses: [], problem: "BadName", isAlias: false },
        { host: "slow.example", priority: 30, addresses: [], problem: "Timeout", isAlias: false }
      ] as const
      const found = yield* looked({ "example.com": { MX: [{ priority: 10, exchange: "mx.inlet.test" }] }, ...ours })
      const said = lines(DnsChecks.mx(own, { ...found, hosts }, { isNearby: false, isRelayed: false }))
      assert.deepStrictEqual(said.slice(1), [
        "warning mx_host: mail..other.example (priority 20) belongs to another service, and has no address in DNS (BadName) → Correct or remove this MX record of example.com",
        "unknown mx_host: slow.example (priority 30) belongs to another service, and has no address in DNS (Timeout) → Retry in a minute. If it stays so: Correct or remove this MX record of example.com"
      ])
    })
  )

  it.effect("looks five of a thousand hosts up, and finds its own behind them", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 999 }, (_, at) => ({ priority: at, exchange: `mx${at}.other.example` }))
      const found = yield* looked({ "example.com": { MX: [...many, { priority: 1_000, exchange: "mx.inlet.test" }] } })
      assert.strictEqual(found.hosts.length, 5)
      const said = lines(DnsChecks.mx(own, found, { isNearby: false, isRelayed: false }))
      assert.strictEqual(said[0], "ok mx: The MX record of example.com with priority 1000 is mx.inlet.test")
      assert.match(said[1] ?? "", /mx0\.other\.example \(priority 0\), .* and 996 more while/)
      assert.strictEqual(said.length, 7)
    })
  )

  it.effect("answers within 9 s while DNS is silent, and shares the answer for 5 s", () =>
    Effect.gen(function* () {
      const dns = FakeDns.make({ "example.com": { MX: [{ priority: 10, exchange: "mx.inlet.test" }] }, ...ours })
      const look = Effect.provide(
        Effect.gen(function* () {
          const { at } = yield* DnsLook
          yield* dns.will("hang", "resolve")
          const first = yield* Effect.forkChild(at(workspaceId, own.domain, own.txt_name))
          yield* TestClock.adjust("9 seconds")
          const silent = yield* Fiber.join(first)
          yield* dns.will("work", "resolve")
          yield* TestClock.adjust("4 seconds")
          const kept = yield* at(workspaceId, own.domain, own.txt_name)
          yield* TestClock.adjust("1 second")
          return { silent, kept, later: yield* at(workspaceId, own.domain, own.txt_name) }
        }),
        DnsLook.layer
      )
      const { kept, later, silent } = yield* Effect.provide(look, dns.layer)
      assert.match(
        lines(DnsChecks.mx(own, silent, { isNearby: false, isRelayed: false })).join(),
        /^unknown mx: .*\(Timeout\)/
      )
      assert.strictEqual(kept, silent)
      assert.match(lines(DnsChecks.mx(own, later, { isNearby: false, isRelayed: false })).join(), /^ok mx: /)
    })
  )

  it.effect("looks at 3 domains of a workspace at once, so that silent ones leave places to others", () =>
    Effect.gen(function* () {
      const dns = FakeDns.make({ "example.com": { MX: [{ priority: 10, exchange: "mx.inlet.test" }] }, ...ours })
      const look = Effect.provide(
        Effect.gen(function* () {
          const { at } = yield* DnsLook
          yield* dns.will("hang", "resolve")
          const silent = yield* Effect.forEach(Array.from({ length: 20 }).keys(), (index) =>
            Effect.forkChild(at(otherWorkspaceId, `silent${index}.example`, null))
          )
          yield* TestClock.adjust("1 second")
          yield* dns.will("work", "resolve")
          const found = yield* Effect.forkChild(at(workspaceId, own.domain, null))
          yield* TestClock.adjust("9 seconds")
          return { found: yield* Fiber.join(found), silent: yield* Effect.forEach(silent, Fiber.join) }
        }),
        DnsLook.layer
      )
      const { found, silent } = yield* Effect.provide(look, dns.layer)
      const said = (found: Found) => lines(DnsChecks.mx(own, found, { isNearby: false, isRelayed: false }))
      assert.match(said(found).join(), /^ok mx: /)
      const late = silent.map((each) => said(each).join())
      assert.strictEqual(late.filter((line) => line.includes("(Timeout)")).length, 3)
      assert.deepStrictEqual(
        late.slice(3),
        Array.from(
          { length: 17 },
          () =>
            "unknown mx: Too many looks at DNS are under way, so the records of example.com were not looked up → Ask again in 10 seconds"
        )
      )
    })
  )
})
