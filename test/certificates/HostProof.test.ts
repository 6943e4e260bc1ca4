import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Dns } from "effect/net"
import type { DomainName } from "../../src/model/Domain.ts"
import { RegistrarName } from "../../src/model/Order.ts"
import { DnsHost, type Text } from "../../src/providers/registrar/DnsHost.ts"
import { Refused, Registrar, RegistrarError } from "../../src/providers/registrar/Registrar.ts"
import { Registrars } from "../../src/providers/registrar/Registrars.ts"
import { Acme } from "../simulators/Acme.ts"
import * as World from "./World.ts"

const name = RegistrarName.make("fake")

/** A registrar that holds one zone, whose TXT records a resolver shows. */
const zone = (holds: string, refuses = false) => {
  const records = new Map<string, string>()
  const changes: Array<string> = []
  const key = (domain: DomainName, text: Text) => `${text.name}.${domain}`
  const vendor = {
    registrar: Registrar.of({
      name,
      quote: () => Effect.succeed(new Map()),
      holds: (domain) => Effect.succeed(domain === holds),
      register: () => Effect.void
    }),
    dnsHost: DnsHost.of({
      publish: () => Effect.die("it would replace the whole zone"),
      texts: {
        add: (domain, text) =>
          refuses
            ? Effect.fail(new RegistrarError({ registrar: name, reason: new Refused({ message: "no access" }) }))
            : Effect.sync(() => {
                changes.push(`add ${key(domain, text)}`)
                records.set(key(domain, text), text.value)
              }),
        remove: (domain, text) =>
          Effect.sync(() => {
            changes.push(`remove ${key(domain, text)}`)
            records.delete(key(domain, text))
          })
      }
    })
  }
  const dns = Dns.make({
    lookup: () => Effect.succeed([]),
    resolve: (asked, type) => {
      const value = records.get(String(asked).replace(/\.$/, ""))
      return value === undefined
        ? Effect.fail(
            new Dns.DnsError({ reason: "NotFound", method: "resolve", hostname: String(asked), recordType: type })
          )
        : Effect.succeed([Dns.makeRecordUnsafe("TXT", { chunks: [value] })])
    }
  })
  const seams = { registrars: Layer.succeed(Registrars, new Map([[name, vendor]])), dns: Layer.succeed(Dns.Dns, dns) }
  return { records, changes, seams }
}

describe("A proof by DNS", () => {
  it.live("publishes a TXT record in the zone that a registrar holds, and removes it afterwards", () => {
    const { changes, records, seams } = zone("inlet.test")
    return Effect.gen(function* () {
      const acme = yield* Acme
      yield* acme.looks(({ host }) => Effect.sync(() => records.get(`_acme-challenge.${host}`) ?? "nothing"))
      yield* World.order({ challenge: "dns" })
      assert.isNotNull((yield* World.row).chain)
      assert.deepStrictEqual(changes, ["add _acme-challenge.mx.inlet.test", "remove _acme-challenge.mx.inlet.test"])
    }).pipe(Effect.provide(World.layer(seams)), Effect.scoped)
  })

  it.live("says that no registrar holds the zone, and asks the authority to look at nothing", () => {
    const { seams } = zone("elsewhere.test")
    return Effect.gen(function* () {
      const acme = yield* Acme
      yield* World.order({ challenge: "dns" })
      assert.match(
        `${(yield* World.row).problem}`,
        /^No configured registrar holds inlet\.test, .* Set ACME_CHALLENGE=http/
      )
      assert.strictEqual(acme.asked("challenge"), 0)
    }).pipe(Effect.provide(World.layer(seams)), Effect.scoped)
  })

  it.live("says that the registrar refused the record", () => {
    const { seams } = zone("inlet.test", true)
    return Effect.gen(function* () {
      yield* World.order({ challenge: "dns" })
      assert.strictEqual(
        (yield* World.row).problem,
        "fake did not publish the TXT record _acme-challenge.mx of inlet.test: no access"
      )
    }).pipe(Effect.provide(World.layer(seams)), Effect.scoped)
  })

  it.live("waits for the record to be visible, and asks the authority to look at nothing before", () => {
    const { records, seams } = zone("inlet.test")
    const invisible = Layer.succeed(
      Dns.Dns,
      Dns.make({ lookup: () => Effect.succeed([]), resolve: () => Effect.succeed([]) })
    )
    return Effect.gen(function* () {
      const acme = yield* Acme
      yield* World.order({ challenge: "dns" })
      assert.match(
        `${(yield* World.row).problem}`,
        /^DNS does not show the TXT record _acme-challenge\.mx\.inlet\.test/
      )
      assert.strictEqual(acme.asked("challenge"), 0)
      assert.strictEqual(records.size, 0)
    }).pipe(Effect.provide(World.layer({ ...seams, dns: invisible })), Effect.scoped)
  })
})
