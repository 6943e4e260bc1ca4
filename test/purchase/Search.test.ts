import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { DomainName } from "../../src/model/Domain.ts"
import { RegistrarName } from "../../src/model/Order.ts"
import { DnsHost } from "../../src/providers/registrar/DnsHost.ts"
import { Registrar, RegistrarError, Uncertain } from "../../src/providers/registrar/Registrar.ts"
import { Registrars, type Vendor } from "../../src/providers/registrar/Registrars.ts"
import { Search } from "../../src/purchase/Search.ts"
import { DnsServer } from "../DnsServer.ts"
import { TestInlet } from "../TestInlet.ts"
import { customer, namecheapSettings, openproviderSettings, Vendors } from "./Shop.ts"

const vendor = (name: string, quote: Registrar["Service"]["quote"]): readonly [RegistrarName, Vendor] => [
  RegistrarName.make(name),
  {
    registrar: Registrar.of({
      name: RegistrarName.make(name),
      quote,
      holds: () => Effect.die("a search asks for quotes alone"),
      register: () => Effect.die("a search asks for quotes alone")
    }),
    dnsHost: DnsHost.of({ publish: () => Effect.die("a search asks for quotes alone") })
  }
]

/** A registrar with these yearly prices in cents. */
const selling = (name: string, prices: Readonly<Record<string, number>>) =>
  vendor(name, (names) =>
    Effect.succeed(
      new Map(
        names.flatMap((asked) => {
          const cents = prices[asked]
          return cents === undefined ? [] : [[asked, cents] as const]
        })
      )
    )
  )

const down = (name: string) =>
  vendor(name, () =>
    Effect.fail(
      new RegistrarError({ registrar: RegistrarName.make(name), reason: new Uncertain({ message: "no answer" }) })
    )
  )

const late = (name: string, prices: Readonly<Record<string, number>>, after: Duration.Input) =>
  vendor(name, (names, years) => Effect.delay(selling(name, prices)[1].registrar.quote(names, years), after))

const among = (vendors: ReadonlyArray<readonly [RegistrarName, Vendor]>, env: Readonly<Record<string, string>> = {}) =>
  Search.layer.pipe(
    Layer.provide(Layer.succeed(Registrars, new Map(vendors))),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )

const search = Effect.fnUntraced(function* (q: string, tlds?: string) {
  const { search } = yield* Search
  return yield* search(q, tlds)
})

/** Name, registrar and price in cents of each result. */
const found = (q: string, tlds?: string) =>
  Effect.map(search(q, tlds), (results) =>
    results.map(({ domain, price_cents, registrar }) => [`${domain}`, registrar, price_cents])
  )

describe("The names of a search", () => {
  const names = (q: string, tlds?: string) =>
    Effect.map(search(q, tlds), (results) => results.map(({ domain }) => domain)).pipe(Effect.provide(among([])))

  it.effect("are the label under com, net, org, io and dev", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names("agent"), ["agent.com", "agent.net", "agent.org", "agent.io", "agent.dev"])
    })
  )

  it.effect("are the label under the requested TLDs, in order and once each", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names("agent", "io,com, net ,.ORG,com"), [
        "agent.io",
        "agent.com",
        "agent.net",
        "agent.org"
      ])
      assert.deepStrictEqual(yield* names("agent", "co.uk"), ["agent.co.uk"])
    })
  )

  it.effect("are a full name alone, or first with its label under the requested TLDs", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names("agent.co.uk"), ["agent.co.uk"])
      assert.deepStrictEqual(yield* names("agent.com", "net,com"), ["agent.com", "agent.net"])
    })
  )

  it.effect("are in canonical form", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names(" AGENT.Com. "), ["agent.com"])
      assert.deepStrictEqual(yield* names("bücher", "com"), ["xn--bcher-kva.com"])
    })
  )

  it.effect("are under one to twenty TLDs", () =>
    Effect.gen(function* () {
      const twenty = Array.from({ length: 20 }, (_, index) => `tld${index}x`)
      assert.lengthOf(yield* names("agent", twenty.join(",")), 20)
      for (const tlds of [[...twenty, "com"].join(","), "", ","]) {
        const { message } = yield* Effect.flip(names("agent", tlds))
        assert.strictEqual(message, "tlds: Expected 1 to 20, separated by commas")
      }
    })
  )

  for (const [q, tlds] of [
    [""],
    ["two words"],
    ["-agent"],
    ["agent_1"],
    ["a".repeat(64)],
    ["mail.agent.com"],
    ["192.0.2.1"],
    ["co.uk"],
    ["agent", "c om"],
    ["agent", "com,no_tld"]
  ] as const) {
    it.effect(`can't be ${JSON.stringify(q)}${tlds === undefined ? "" : ` under ${JSON.stringify(tlds)}`}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(names(q, tlds))
        assert.strictEqual(error._tag, "Invalid")
        assert.match(error.message, /^(q|tlds): Expected /)
      })
    )
  }
})

describe("The offer", () => {
  it.effect("is the cheapest of all registrars with the markup, for one year", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* search("agent", "com,net,org"), [
        {
          domain: DomainName.make("agent.com"),
          available: true,
          price_cents: 1_298,
          price: "12.98",
          currency: "USD",
          registrar: RegistrarName.make("openprovider"),
          years: 1
        },
        {
          domain: DomainName.make("agent.net"),
          available: true,
          price_cents: 304,
          price: "3.04",
          currency: "USD",
          registrar: RegistrarName.make("namecheap"),
          years: 1
        },
        {
          domain: DomainName.make("agent.org"),
          available: false,
          price_cents: null,
          price: null,
          currency: "USD",
          registrar: null,
          years: 1
        }
      ])
    }).pipe(
      Effect.provide(
        among([
          selling("namecheap", { "agent.com": 1_000, "agent.net": 5 }),
          selling("openprovider", { "agent.com": 999, "agent.net": 6 })
        ])
      )
    )
  )

  it.effect("is the first registrar's if prices are equal", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("agent.com"), [["agent.com", "openprovider", 1_299]])
    }).pipe(
      Effect.provide(
        among([selling("openprovider", { "agent.com": 1_000 }), selling("namecheap", { "agent.com": 1_000 })])
      )
    )
  )

  it.effect("comes from the registrars of REGISTRAR_TLD_MAP for the TLD, or from all without an entry", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("agent", "com,net,co.uk,org"), [
        ["agent.com", "namecheap", 1_299],
        ["agent.net", "openprovider", 399],
        ["agent.co.uk", "namecheap", 399],
        ["agent.org", "openprovider", 399]
      ])
    }).pipe(
      Effect.provide(
        among(
          [
            selling("namecheap", { "agent.com": 1_000, "agent.net": 200, "agent.co.uk": 100, "agent.org": 200 }),
            selling("openprovider", { "agent.com": 100, "agent.net": 100, "agent.co.uk": 50, "agent.org": 100 })
          ],
          { REGISTRAR_TLD_MAP: "com:namecheap, .CO.UK:namecheap, net:namecheap, net:openprovider" }
        )
      )
    )
  )

  it.effect("is the registrar's price for all years plus the markup once", () =>
    Effect.gen(function* () {
      const { priceCents } = yield* Search
      const offer = { registrar: RegistrarName.make("mock"), wholesaleCents: 999 }
      assert.deepStrictEqual(
        [1, 2, 10].map((years) => priceCents(offer, years)),
        [1_499, 2_498, 10_490]
      )
    }).pipe(Effect.provide(among([], { DOMAIN_MARKUP_CENTS: "500" })))
  )

  it.effect("is absent for a price of zero or above $999,999.99 for ten years", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("agent", "free,dear,dearer,dearest"), [
        ["agent.free", null, null],
        ["agent.dear", "mock", 9_999_999],
        ["agent.dearer", null, null],
        ["agent.dearest", null, null]
      ])
      const { offers } = yield* Search
      assert.deepStrictEqual((yield* offers(DomainName.make("agent.dearer"), 1)).offers, [])
    }).pipe(
      Effect.provide(
        among(
          [
            selling("mock", {
              "agent.free": 0,
              "agent.dear": 9_999_999,
              "agent.dearer": 10_000_000,
              "agent.dearest": Number.MAX_SAFE_INTEGER
            })
          ],
          { DOMAIN_MARKUP_CENTS: "0" }
        )
      )
    )
  )

  it.effect("is absent for a name of the platform", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("agent", "example,test"), [
        ["agent.example", null, null],
        ["agent.test", "mock", 399]
      ])
    }).pipe(
      Effect.provide(
        among([selling("mock", { "agent.example": 100, "agent.test": 100 })], { PLATFORM_DOMAIN: "agent.example" })
      )
    )
  )
})

describe("A slow or unavailable registrar", () => {
  it.effect("is omitted, and the other quotes are returned within 5 s", () =>
    Effect.gen(function* () {
      const searching = yield* Effect.forkChild(found("agent.com"))
      yield* TestClock.adjust("4500 millis")
      assert.isUndefined(searching.pollUnsafe())
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(yield* Fiber.join(searching), [["agent.com", "openprovider", 1_299]])
    }).pipe(
      Effect.provide(
        among([
          late("namecheap", { "agent.com": 500 }, "6 seconds"),
          late("openprovider", { "agent.com": 1_000 }, "4 seconds"),
          down("mock")
        ])
      )
    )
  )

  it.effect("leaves nothing available if there is no other", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("agent.com"), [["agent.com", null, null]])
    }).pipe(Effect.provide(among([down("mock")])))
  )

  it.effect("is distinguished from one that does not sell the name", () =>
    Effect.gen(function* () {
      const { offers } = yield* Search
      assert.deepStrictEqual(yield* offers(DomainName.make("agent.com"), 1), {
        offers: [],
        answered: 1,
        silent: [RegistrarName.make("namecheap")]
      })
      assert.deepStrictEqual(yield* offers(DomainName.make("agent.net"), 1), { offers: [], answered: 1, silent: [] })
    }).pipe(
      Effect.provide(among([down("namecheap"), selling("openprovider", {})], { REGISTRAR_TLD_MAP: "net:openprovider" }))
    )
  )
})

const World = Layer.unwrap(
  Effect.gen(function* () {
    const { namecheap, openprovider } = yield* Vendors
    const { server } = yield* DnsServer
    return TestInlet.layer({
      DNS_SERVERS: server,
      DOMAIN_MARKUP_CENTS: "100",
      REGISTRAR_PRIMARY: "openprovider",
      REGISTRAR_TLD_MAP: "io:namecheap",
      ...namecheapSettings(namecheap.url),
      ...openproviderSettings(openprovider.url)
    })
  })
).pipe(Layer.provideMerge(Layer.merge(Vendors.layer, DnsServer.layer)))

layer(World, { excludeTestServices: true })("Search over HTTP with two registrars", (it) => {
  it.effect("shows the lower price, the primary registrar's if equal, and follows REGISTRAR_TLD_MAP", () =>
    Effect.gen(function* () {
      const { namecheap, openprovider } = yield* Vendors
      const { get } = yield* customer
      yield* namecheap.price("net", { decimal: "9.99" })
      const before = yield* openprovider.asked("check")
      const { json, status } = yield* get("/api/domains/search?q=agent&tlds=com,net,io,xyz")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json, {
        results: [
          {
            domain: "agent.com",
            available: true,
            price_cents: 1_128,
            price: "11.28",
            currency: "USD",
            registrar: "openprovider",
            years: 1
          },
          {
            domain: "agent.net",
            available: true,
            price_cents: 1_099,
            price: "10.99",
            currency: "USD",
            registrar: "namecheap",
            years: 1
          },
          {
            domain: "agent.io",
            available: true,
            price_cents: 3_598,
            price: "35.98",
            currency: "USD",
            registrar: "namecheap",
            years: 1
          },
          {
            domain: "agent.xyz",
            available: false,
            price_cents: null,
            price: null,
            currency: "USD",
            registrar: null,
            years: 1
          }
        ]
      })
      assert.isAbove(yield* openprovider.asked("check"), before)
    })
  )

  it.effect("answers within 5 s without a slower registrar", () =>
    Effect.gen(function* () {
      const { openprovider } = yield* Vendors
      const { get } = yield* customer
      yield* openprovider.mishaps("check", { delay: 30_000 })
      const [time, { json }] = yield* Effect.timed(get("/api/domains/search?q=slow&tlds=com"))
      // Time for a busy machine. The test above has the exact limit.
      assert.isBelow(Duration.toMillis(time), 9_000)
      assert.strictEqual(json.results[0].registrar, "namecheap")
    })
  )

  it.effect("answers without a registrar that is down or malformed", () =>
    Effect.gen(function* () {
      const { namecheap, openprovider } = yield* Vendors
      const { get } = yield* customer
      yield* openprovider.mishaps("check", "rubbish")
      const first = yield* get("/api/domains/search?q=down&tlds=com")
      assert.deepStrictEqual([first.status, first.json.results[0].registrar], [200, "namecheap"])
      yield* openprovider.mishaps("check")
      yield* namecheap.mishaps("check", "busy", "busy", "busy", "busy")
      const second = yield* get("/api/domains/search?q=down&tlds=io,com")
      assert.strictEqual(second.status, 200)
      assert.deepStrictEqual(
        second.json.results.map(({ available, registrar }: Record<string, unknown>) => [available, registrar]),
        [
          [false, null],
          [true, "openprovider"]
        ]
      )
      yield* namecheap.mishaps("check")
    })
  )

  it.effect("sells through the registrar of the customer's choice if it quotes", () =>
    Effect.gen(function* () {
      const { namecheap } = yield* Vendors
      const { buy } = yield* customer
      const bought = yield* buy("wanted.com", { registrar: "namecheap" })
      assert.strictEqual(bought.status, 201)
      assert.strictEqual(bought.json.registrar, "namecheap")
      assert.isDefined(yield* namecheap.sale("wanted.com"))

      const other = yield* customer
      const elsewhere = yield* other.buy("wanted.io", { registrar: "openprovider" })
      assert.strictEqual(elsewhere.status, 409)
      assert.match(elsewhere.json.error, /^wanted\.io is not available from openprovider/)
      yield* namecheap.mishaps("check", "rubbish")
      const silent = yield* other.buy("wanted-too.com", { registrar: "namecheap" })
      assert.strictEqual(silent.status, 502)
      assert.strictEqual(silent.json.error, "namecheap does not answer now. Retry in a minute")
      assert.strictEqual((yield* other.wallet).balance_cents, 5_000)
    })
  )

  it.effect("buys from the cheapest registrar at the time of purchase", () =>
    Effect.gen(function* () {
      const { namecheap, openprovider } = yield* Vendors
      const { buy, get } = yield* customer
      const shown = yield* get("/api/domains/search?q=moving&tlds=org")
      assert.strictEqual(shown.json.results[0].price, "8.48")
      assert.strictEqual(shown.json.results[0].registrar, "openprovider")
      yield* openprovider.price("org", { decimal: "9.00" })
      const { json, status } = yield* buy("moving.org", { years: 3 })
      assert.strictEqual(status, 201)
      assert.deepStrictEqual([json.registrar, json.price_cents, json.years], ["namecheap", 3 * 748 + 100, 3])
      assert.strictEqual((yield* namecheap.sale("moving.org"))?.years, 3)
      assert.isUndefined(yield* openprovider.sale("moving.org"))
    })
  )
})
