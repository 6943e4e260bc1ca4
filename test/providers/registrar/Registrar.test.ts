import { inspect } from "node:util"
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, ConfigProvider, Context, Duration, Effect, Layer, Redacted } from "effect"
import { DomainName } from "../../../src/model/Domain.ts"
import { OrderId } from "../../../src/model/Order.ts"
import { DnsHost, type ZoneRecord } from "../../../src/providers/registrar/DnsHost.ts"
import { Registrar, type RegistrarError } from "../../../src/providers/registrar/Registrar.ts"
import { centsOf, split } from "../../../src/providers/registrar/RegistrarCall.ts"
import * as RegistrarMock from "../../../src/providers/registrar/RegistrarMock.ts"
import * as RegistrarNamecheap from "../../../src/providers/registrar/RegistrarNamecheap.ts"
import * as RegistrarOpenprovider from "../../../src/providers/registrar/RegistrarOpenprovider.ts"
import { eventually } from "../../Eventually.ts"
import * as Namecheap from "../../simulators/Namecheap.ts"
import * as Openprovider from "../../simulators/Openprovider.ts"
import { type Mishap, type Operation, Vendor, type VendorRecord } from "../../simulators/Vendor.ts"
import * as TestDatabase from "../../TestDatabase.ts"

const options = { excludeTestServices: true } as const

const name = (text: string) => DomainName.make(text)

const orderId = OrderId.make("0198a1b2-0000-7000-8000-000000000001")

const register = Effect.fnUntraced(function* (domain: DomainName, years = 1) {
  const registrar = yield* Registrar
  return yield* registrar.register({ name: domain, years, orderId })
})

const quote = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const registrar = yield* Registrar
  return Object.fromEntries(yield* registrar.quote(names.map(name), 1))
})

const holds = Effect.fnUntraced(function* (domain: DomainName) {
  const registrar = yield* Registrar
  return yield* registrar.holds(domain)
})

const publish = Effect.fnUntraced(function* (domain: DomainName, records: ReadonlyArray<ZoneRecord>) {
  const dnsHost = yield* DnsHost
  return yield* dnsHost.publish(domain, records)
})

const zone: ReadonlyArray<ZoneRecord> = [
  { type: "MX", name: "@", priority: 10, value: "mx.example.com" },
  { type: "TXT", name: "_service-verify", value: "service_verify_0123456789abcdef" },
  { type: "TXT", name: "@", value: "v=spf1 -all" }
]

/** The contract of every registrar. Names that start with `taken` belong to another customer. */
const contract = <E>(title: string, registrar: Layer.Layer<Registrar | DnsHost, E>) =>
  layer(registrar, options)(`the ${title} registrar`, (it) => {
    it.effect("quotes available names in whole cents and omits the others", () =>
      Effect.gen(function* () {
        const prices = yield* quote("free-contract.com", "taken-contract.com", "free-contract.io")
        assert.deepStrictEqual(Object.keys(prices).sort(), ["free-contract.com", "free-contract.io"])
        for (const cents of Object.values(prices)) assert.isTrue(Number.isSafeInteger(cents) && cents > 0)
      })
    )

    it.effect("quotes nothing for an empty request", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* quote(), {})
      })
    )

    it.effect("holds a name once registered and no longer quotes it", () =>
      Effect.gen(function* () {
        const domain = name("registered-contract.com")
        assert.isFalse(yield* holds(domain))
        yield* register(domain)
        assert.isTrue(yield* holds(domain))
        assert.deepStrictEqual(yield* quote(domain), {})
      })
    )

    it.effect("does not sell a name with another owner", () =>
      Effect.gen(function* () {
        const { reason } = yield* Effect.flip(register(name("taken-contract.net")))
        assert.strictEqual(reason._tag, "NameTaken")
        assert.isFalse(yield* holds(name("taken-contract.net")))
      })
    )

    it.effect("sells a name once for repeated requests", () =>
      Effect.gen(function* () {
        const domain = name("twice-contract.com")
        yield* register(domain)
        const { reason } = yield* Effect.flip(register(domain))
        assert.notStrictEqual(reason._tag, "Refused")
        assert.isTrue(yield* holds(domain))
      })
    )

    it.effect("accepts the same zone twice", () =>
      Effect.gen(function* () {
        const domain = name("zone-contract.com")
        yield* register(domain)
        yield* publish(domain, zone)
        yield* publish(domain, zone)
      })
    )
  })

interface RealVendor {
  readonly title: string
  readonly simulator: Layer.Layer<Vendor>
  readonly secret: string
  /** The adapter on a simulator, with an optional secret or timeout. */
  adapter(changes?: {
    readonly secret?: string
    readonly time?: Duration.Input
  }): Layer.Layer<Registrar | DnsHost, never, Vendor>
}

const namecheap: RealVendor = {
  title: "namecheap",
  simulator: Namecheap.layer,
  secret: Namecheap.apiKey,
  adapter: ({ secret = Namecheap.apiKey, time = "10 seconds" } = {}) =>
    Layer.unwrap(
      Effect.map(Vendor, ({ url }) =>
        RegistrarNamecheap.layer({
          apiUrl: url,
          apiUser: Namecheap.apiUser,
          apiKey: Redacted.make(secret),
          clientIp: Namecheap.clientIp,
          contact: {
            firstName: "Ada",
            lastName: "Lovelace",
            address: "12 St James's Square & Sons",
            city: "London",
            state: "London",
            postalCode: "SW1Y 4JH",
            country: "GB",
            phone: "+44.2071234567",
            email: "ada@example.com"
          },
          time
        })
      )
    )
}

const openprovider: RealVendor = {
  title: "openprovider",
  simulator: Openprovider.layer,
  secret: Openprovider.password,
  adapter: ({ secret = Openprovider.password, time = "10 seconds" } = {}) =>
    Layer.unwrap(
      Effect.map(Vendor, ({ url }) =>
        RegistrarOpenprovider.layer({
          apiUrl: url,
          username: Openprovider.username,
          password: Redacted.make(secret),
          ownerHandle: Openprovider.ownerHandle,
          nsGroup: Openprovider.nsGroup,
          time
        })
      )
    )
}

const whole = (vendor: RealVendor) => vendor.adapter().pipe(Layer.provideMerge(vendor.simulator))

contract("namecheap", whole(namecheap))
contract("openprovider", whole(openprovider))
contract("mock", RegistrarMock.layer.pipe(Layer.provide(TestDatabase.layer)))

/** All printable forms of an error. */
const rendered = (cause: Cause.Cause<RegistrarError>) =>
  [Cause.pretty(cause), String(cause), JSON.stringify(cause), inspect(cause, { depth: 20, showHidden: true })].join(
    "\n"
  )

for (const vendor of [namecheap, openprovider]) {
  const goesWrong = Effect.fnUntraced(function* (operation: Operation, ...mishaps: ReadonlyArray<Mishap>) {
    const simulator = yield* Vendor
    const before = yield* simulator.asked(operation)
    yield* simulator.mishaps(operation, ...mishaps)
    return { asked: Effect.map(simulator.asked(operation), (now) => now - before) }
  })

  layer(whole(vendor), options)(`${vendor.title}, for prices,`, (it) => {
    it.effect("converts the vendor's decimals to cents, also under a suffix of two labels", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* quote("a.com", "b.com", "a.net", "a.io", "a.co.uk"), {
          "a.com": 1_028,
          "b.com": 1_028,
          "a.net": 1_148,
          "a.io": 3_498,
          "a.co.uk": 505
        })
      })
    )

    it.effect("omits taken, premium, unsold, non-dollar and IDN names", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        yield* simulator.premium("gold.com")
        yield* simulator.price("eu", { decimal: "6.10", currency: "EUR" })
        assert.deepStrictEqual(
          yield* quote("taken.com", "gold.com", "a.zuerich", "a.eu", "xn--bcher-kva.com", "www.a.com", "plain.com"),
          { "plain.com": 1_028 }
        )
      })
    )

    it.effect("splits a request that exceeds the vendor's maximum", () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 61 }, (_, index) => `many-${index}.org`)
        assert.deepStrictEqual(yield* quote(...names), Object.fromEntries(names.map((many) => [many, 748])))
      })
    )

    it.effect("retries a busy vendor", () =>
      Effect.gen(function* () {
        const { asked } = yield* goesWrong("check", "busy", "too many requests")
        assert.deepStrictEqual(yield* quote("busy.com"), { "busy.com": 1_028 })
        assert.strictEqual(yield* asked, 3)
      })
    )

    it.effect("retries after a broken connection", () =>
      Effect.gen(function* () {
        const { asked } = yield* goesWrong("check", "hang-up")
        assert.deepStrictEqual(yield* quote("broken.com"), { "broken.com": 1_028 })
        assert.strictEqual(yield* asked, 2)
      })
    )

    it.effect("gives up on a malformed answer", () =>
      Effect.gen(function* () {
        const { asked } = yield* goesWrong("check", "rubbish")
        const { reason } = yield* Effect.flip(quote("rubbish.com"))
        assert.strictEqual(reason._tag, "Uncertain")
        assert.strictEqual(yield* asked, 1)
      })
    )

    it.effect("gives up on a vendor that stays busy", () =>
      Effect.gen(function* () {
        const { asked } = yield* goesWrong("check", "busy", "busy", "busy", "busy")
        const { reason } = yield* Effect.flip(quote("stays-busy.com"))
        assert.strictEqual(reason._tag, "Uncertain")
        assert.strictEqual(yield* asked, 4)
      })
    )

    it.effect("stops on interruption", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        yield* goesWrong("check", { delay: 30_000 })
        const [took, quoted] = yield* Effect.timed(Effect.timeoutOption(quote("slow.com"), "200 millis"))
        assert.strictEqual(quoted._tag, "None")
        assert.isBelow(Duration.toMillis(took), 5_000)
        yield* eventually(simulator.abandoned, (abandoned) => abandoned > 0)
      })
    )
  })

  layer(whole(vendor), options)(`${vendor.title}, for registrations,`, (it) => {
    it.effect("registers for the ordered years with one request", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        const { asked } = yield* goesWrong("register")
        yield* register(name("three-years.co.uk"), 3)
        assert.strictEqual((yield* simulator.sale("three-years.co.uk"))?.years, 3)
        assert.strictEqual(yield* asked, 1)
      })
    )

    it.effect("is uncertain after a lost answer, and finds the result by a look-up", () =>
      Effect.gen(function* () {
        const domain = name("silence.com")
        const { asked } = yield* goesWrong("register", "silence")
        const { reason } = yield* Effect.flip(
          register(domain).pipe(Effect.provide(vendor.adapter({ time: "1 second" })))
        )
        assert.strictEqual(reason._tag, "Uncertain")
        assert.isTrue(yield* holds(domain))
        assert.strictEqual(yield* asked, 1)
      })
    )

    it.effect("is uncertain after a broken connection", () =>
      Effect.gen(function* () {
        const domain = name("hang-up.com")
        const { asked } = yield* goesWrong("register", "hang-up")
        const { reason } = yield* Effect.flip(register(domain))
        assert.strictEqual(reason._tag, "Uncertain")
        assert.isTrue(yield* holds(domain))
        assert.strictEqual(yield* asked, 1)
      })
    )

    it.effect("does not retry after a busy or malformed answer", () =>
      Effect.gen(function* () {
        for (const mishap of ["busy", "too many requests", "rubbish"] as const) {
          const { asked } = yield* goesWrong("register", mishap)
          const { reason } = yield* Effect.flip(register(name("in-trouble.com")))
          assert.strictEqual(reason._tag, "Uncertain", mishap)
          assert.strictEqual(yield* asked, 1, mishap)
        }
        assert.isFalse(yield* holds(name("in-trouble.com")))
      })
    )

    it.effect("never reports its own name as taken", () =>
      Effect.gen(function* () {
        const domain = name("our-own.com")
        yield* register(domain)
        const { reason } = yield* Effect.flip(register(domain))
        assert.strictEqual(reason._tag, "Uncertain")
      })
    )

    it.effect("is uncertain about the owner if the look-up fails", () =>
      Effect.gen(function* () {
        yield* goesWrong("holds", "rubbish")
        const { reason } = yield* Effect.flip(register(name("taken-unseen.com")))
        assert.strictEqual(reason._tag, "Uncertain")
      })
    )

    it.effect("returns the vendor's reason for a refusal", () =>
      Effect.gen(function* () {
        const { reason } = yield* Effect.flip(register(name("eleven-years.com"), 11))
        assert.strictEqual(reason._tag, "Refused")
        assert.match(reason.message, /Years|period/)
        assert.isFalse(yield* holds(name("eleven-years.com")))
      })
    )

    it.effect("does not hold a name that the vendor dropped", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        const domain = name("dropped.com")
        yield* register(domain)
        yield* simulator.drop(domain)
        assert.isFalse(yield* holds(domain))
      })
    )
  })

  layer(whole(vendor), options)(`${vendor.title}, for DNS records,`, (it) => {
    const sorted = (records: ReadonlyArray<VendorRecord> | undefined) =>
      records?.toSorted((a, b) => `${a.type}${a.name}`.localeCompare(`${b.type}${b.name}`))

    it.effect("publishes exactly the given records", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        const domain = name("published.co.uk")
        yield* register(domain)
        yield* publish(domain, [{ type: "TXT", name: "old", value: "of another day" }])
        yield* publish(domain, zone)
        assert.deepStrictEqual(sorted(yield* simulator.zone(domain)), sorted(zone))
        yield* publish(domain, zone)
        assert.deepStrictEqual(sorted(yield* simulator.zone(domain)), sorted(zone))
      })
    )

    it.effect("adds and removes one TXT record, and leaves all others, also those of the owner", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        const { texts } = yield* DnsHost
        const domain = name("own-zone.co.uk")
        const text = { name: "_acme-challenge.mx", value: "9PJXr6oqkS9cRVQpiIyRRTO1NBNpMWmqFkXJ1hVGTkI" }
        yield* register(domain)
        yield* publish(domain, zone)
        yield* simulator.own(domain, { type: "A", name: "mx", value: "192.0.2.25" })
        const before = sorted(yield* simulator.zone(domain))
        yield* texts?.add(domain, text) ?? Effect.die("texts are missing")
        const after = sorted(yield* simulator.zone(domain))
        assert.deepStrictEqual(after, sorted([...(before ?? []), { type: "TXT", ...text }]))
        yield* texts?.add(domain, text) ?? Effect.die("texts are missing")
        assert.deepStrictEqual(sorted(yield* simulator.zone(domain)), after)
        yield* texts?.remove(domain, text) ?? Effect.die("texts are missing")
        assert.deepStrictEqual(sorted(yield* simulator.zone(domain)), before)
      })
    )

    it.effect("reaches the same zone when answers are lost", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        const domain = name("lost-answers.com")
        yield* register(domain)
        // One vendor is called once, the other for a missing zone and to create it.
        yield* goesWrong("publish", vendor === namecheap ? "hang-up" : { delay: 0 }, "hang-up")
        yield* publish(domain, zone)
        assert.deepStrictEqual(sorted(yield* simulator.zone(domain)), sorted(zone))
      })
    )
  })

  layer(whole(vendor), options)(`${vendor.title}, with its secret,`, (it) => {
    const wrong = "wrong-secret-0123456789"

    it.effect("refuses other credentials without quoting them", () =>
      Effect.gen(function* () {
        const attempts = [quote("wrong.com"), holds(name("wrong.com")), register(name("wrong.com"))]
        for (const attempt of [...attempts, publish(name("wrong.com"), zone)]) {
          const { reason } = yield* Effect.flip(
            Effect.asVoid<unknown, RegistrarError, Registrar | DnsHost>(attempt).pipe(
              Effect.provide(vendor.adapter({ secret: wrong }))
            )
          )
          assert.strictEqual(reason._tag, "Refused")
          assert.notInclude(reason.message, wrong)
          assert.match(reason.message, /invalid|Failed/)
        }
      })
    )

    it.effect("keeps the secret out of every error, even if the vendor repeats it", () =>
      Effect.gen(function* () {
        const echo = { error: 1_011_102, text: `The key ${vendor.secret} is not known` }
        const mishaps: ReadonlyArray<Mishap> = [echo, { ...echo, error: 310 }, "rubbish", "hang-up", "busy", "silence"]
        for (const mishap of mishaps) {
          yield* goesWrong("register", mishap)
          const cause = yield* Effect.flip(
            register(name("secret.com")).pipe(Effect.provide(vendor.adapter({ time: "1 second" })), Effect.sandbox)
          )
          assert.notInclude(rendered(cause), vendor.secret, String(mishap))
        }
        yield* goesWrong("check", { ...echo, error: 310 })
        assert.notInclude(rendered(yield* Effect.flip(Effect.sandbox(quote("secret.com")))), vendor.secret)
      })
    )

    it.effect("keeps the secret out of URLs", () =>
      Effect.gen(function* () {
        const simulator = yield* Vendor
        yield* quote("url.com")
        yield* holds(name("url.com"))
        const urls = yield* simulator.urls
        assert.isAtLeast(urls.length, 2)
        for (const url of urls) assert.notInclude(url, vendor.secret)
      })
    )
  })

  layer(Layer.empty, options)(`${vendor.title}, without a connection,`, (it) => {
    it.effect("is unreachable", () =>
      Effect.gen(function* () {
        const url = yield* Effect.scoped(
          Effect.map(Layer.build(vendor.simulator), (all) => Context.get(all, Vendor).url)
        )
        const { reason } = yield* Effect.flip(
          register(name("nobody.com")).pipe(
            Effect.provide(vendor.adapter()),
            Effect.provideService(Vendor, { ...(yield* Vendor.pipe(Effect.provide(vendor.simulator))), url })
          )
        )
        assert.strictEqual(reason._tag, "Uncertain")
      })
    )
  })
}

layer(
  RegistrarMock.layer.pipe(
    Layer.provide([
      TestDatabase.layer,
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { NODE_ENV: "production" } }))
    ])
  ),
  options
)("The mock registrar in production", (it) => {
  it.effect("sells no name that may have a real owner", () =>
    Effect.gen(function* () {
      const names = ["agent.com", "agent.io", "agent.test", "agent.example", "agent.invalid", "agent.example.com"]
      assert.deepStrictEqual(Object.keys(yield* quote(...names)).toSorted(), [
        "agent.example",
        "agent.invalid",
        "agent.test"
      ])
    })
  )
})

layer(whole(namecheap), options)("Namecheap", (it) => {
  it.effect("caches the price of a TLD for an hour, fee included", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* simulator.price("org", { decimal: "7.4800", fee: "0.20" })
      assert.deepStrictEqual(yield* quote("one.org", "two.org"), { "one.org": 768, "two.org": 768 })
      yield* quote("three.org")
      assert.strictEqual(yield* simulator.asked("price"), 1)
    })
  )

  it.effect("quotes a year of a longer term without a cheap first year, for terms without a price, too", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      const registrar = yield* Registrar
      yield* simulator.price("io", { first: "1.98", decimal: "14.98", fee: "0.00" })
      const cents = (years: number) =>
        Effect.map(registrar.quote([name("term.io")], years), (prices) => prices.get(name("term.io")))
      assert.deepStrictEqual([yield* cents(1), yield* cents(2), yield* cents(10)], [198, 1_498, 1_498])
    })
  )

  it.effect("divides the price of a whole term by its years, rounded up", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      const registrar = yield* Registrar
      yield* simulator.price("co", { decimal: "20.00", absolute: "25.99", fee: "0.00" })
      const cents = (years: number) =>
        Effect.map(registrar.quote([name("term.co")], years), (prices) => prices.get(name("term.co")))
      assert.deepStrictEqual([yield* cents(1), yield* cents(2), yield* cents(3)], [2_000, 1_300, 2_000])
    })
  )

  it.effect("requests a price again after a failure", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* simulator.mishaps("price", "rubbish")
      yield* Effect.flip(quote("again.dev"))
      assert.deepStrictEqual(yield* quote("again.dev"), { "again.dev": 1_298 })
    })
  )

  it.effect("sends the same contact in every role", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* register(name("contact.com"))
      const sale = yield* simulator.sale("contact.com")
      for (const role of ["Registrant", "Tech", "Admin", "AuxBilling"]) {
        assert.strictEqual(sale?.parameters[`${role}Address1`], "12 St James's Square & Sons")
        assert.strictEqual(sale?.parameters[`${role}EmailAddress`], "ada@example.com")
      }
    })
  )

  it.effect("changes no record of a name whose name servers are elsewhere", () =>
    Effect.gen(function* () {
      const { texts } = yield* DnsHost
      const domain = name("hosted-elsewhere.com")
      yield* register(domain)
      const added = texts?.add(domain, { name: "a", value: "b" }) ?? Effect.die("texts are missing")
      const error = yield* Effect.flip(added)
      assert.deepInclude(error.reason, {
        _tag: "Refused",
        message: "the name servers of hosted-elsewhere.com are not those of Namecheap"
      })
    })
  )

  it.effect("treats a registry error as no answer", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* simulator.mishaps("register", {
        error: 5_050_900,
        text: "Unknown error while adding domain to your account"
      })
      const { reason } = yield* Effect.flip(register(name("unknown-error.com")))
      assert.strictEqual(reason._tag, "Uncertain")
    })
  )
})

layer(whole(openprovider), options)("Openprovider", (it) => {
  it.effect("logs in once for concurrent calls", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* Effect.all([quote("a.com"), quote("b.com"), holds(name("c.com"))], { concurrency: "unbounded" })
      assert.strictEqual(yield* simulator.asked("login"), 1)
    })
  )

  it.effect("logs in again when the token is invalid, and then registers", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* holds(name("old-token.com"))
      const before = yield* simulator.asked("login")
      yield* simulator.forget
      yield* register(name("old-token.com"))
      assert.strictEqual((yield* simulator.sale("old-token.com"))?.years, 1)
      assert.strictEqual((yield* simulator.asked("login")) - before, 1)
    })
  )

  it.effect("requests each extension alone if one is not sold", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* quote("a.zuerich", "a.com", "b.zuerich", "b.com", "a.io"), {
        "a.com": 1_028,
        "b.com": 1_028,
        "a.io": 3_498
      })
    })
  )

  it.effect("orders names without auto-renewal, with the group of name servers", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* register(name("options.com"))
      const sale = yield* simulator.sale("options.com")
      assert.strictEqual(sale?.parameters.autorenew, "off")
      assert.strictEqual(sale?.parameters.ns_group, Openprovider.nsGroup)
    })
  )

  it.effect("neither holds nor lacks a name that the registry has not registered yet", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      const slow = name("slow-registry.com")
      yield* simulator.pending(slow, true)
      for (const call of [register(slow), holds(slow)]) {
        const { reason } = yield* Effect.flip(call)
        assert.strictEqual(reason._tag, "Uncertain")
      }
      yield* simulator.pending(slow, false)
      assert.isTrue(yield* holds(slow))
      yield* simulator.drop(slow)
      assert.isFalse(yield* holds(slow))
    })
  )

  it.effect("treats an unknown error as no answer", () =>
    Effect.gen(function* () {
      const simulator = yield* Vendor
      yield* simulator.mishaps("register", { error: 399, text: "An unknown domain error has occurred!" })
      const { reason } = yield* Effect.flip(register(name("unknown-error.com")))
      assert.strictEqual(reason._tag, "Uncertain")
    })
  )
})

describe("A price", () => {
  it("is parsed from its digits and rounded up", () => {
    assert.deepStrictEqual(
      ["8.88", 8.06, "10", "0.1", "13000.0000", "10.2801", "5.5", "0"].map(centsOf),
      [888, 806, 1_000, 10, 1_300_000, 1_029, 550, 0]
    )
  })

  it("is absent if it is not a plain decimal", () => {
    for (const text of ["", "-1", "1e3", "8,88", "$8.88", "NaN", "9999999999.00"]) {
      assert.isUndefined(centsOf(text), text)
    }
  })
})

describe("A domain name", () => {
  it("is split at its registered suffix", () => {
    assert.deepStrictEqual(split(name("example.co.uk")), { label: "example", suffix: "co.uk" })
    assert.deepStrictEqual(split(name("example.com")), { label: "example", suffix: "com" })
    assert.isUndefined(split(name("mail.example.com")))
    assert.isUndefined(split(name("co.uk")))
  })
})
