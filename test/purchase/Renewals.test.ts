import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RegistrarName } from "../../src/model/Order.ts"
import { DnsHost } from "../../src/providers/registrar/DnsHost.ts"
import { Refused, Registrar, RegistrarError, Uncertain } from "../../src/providers/registrar/Registrar.ts"
import { Registrars } from "../../src/providers/registrar/Registrars.ts"
import { Renewals } from "../../src/purchase/Renewals.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { customer } from "./Shop.ts"

const mock = RegistrarName.make("mock")

/** A registrar with this answer for any name. Returns the names it was asked for. */
const look = Effect.fnUntraced(function* (says: Effect.Effect<boolean, RegistrarError>) {
  const asked: Array<string> = []
  const registrar = Registrar.of({
    name: mock,
    holds: (name) =>
      Effect.suspend(() => {
        asked.push(name)
        return says
      }),
    quote: () => Effect.die("nobody looks for offers"),
    register: () => Effect.die("nobody renews by registering")
  })
  const dnsHost = DnsHost.of({ publish: () => Effect.die("nothing is published") })
  const context = yield* Layer.build(
    Layer.fresh(Renewals.layer).pipe(
      Layer.provide(Layer.succeed(Registrars, new Map([[mock, { registrar, dnsHost }]])))
    )
  )
  yield* Context.get(context, Renewals).lookAfterTerms
  return asked
})

/** A domain that was bought and verified 366 days ago. */
const bought = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const someone = yield* customer
  const { json } = yield* someone.buy(name)
  const domain = Effect.map(someone.get(`/api/domains/${json.domain_id}`), (answer) => answer.json)
  yield* eventually(domain, ({ status }) => status === "mx_pending")
  yield* sql`UPDATE domains SET term_ends_at = term_ends_at - interval '1 year 1 day' WHERE id = ${json.domain_id}`
  return { ...someone, domain, id: json.domain_id as string }
})

const failure = (reason: Uncertain | Refused) => Effect.fail(new RegistrarError({ registrar: mock, reason }))

layer(TestInlet.layer(), { excludeTestServices: true })("A bought domain after its term", (it) => {
  it.effect("is disabled with a reason and refuses mail once the registrar has dropped it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domain, post, id } = yield* bought("dropped.com")
      const accepted = yield* Effect.scoped(Mailbox.begin(inlet.smtpPort, "agent@dropped.com"))
      assert.match(accepted.replies[0] ?? "", /^250/)

      assert.deepStrictEqual(yield* look(Effect.succeed(false)), ["dropped.com"])
      const { disabled_reason, status } = yield* domain
      assert.deepStrictEqual([status, disabled_reason], ["disabled", "mock has dropped this name after its term"])
      const refused = yield* Effect.scoped(Mailbox.begin(inlet.smtpPort, "agent@dropped.com"))
      assert.match(refused.replies[0] ?? "", /^550 5\.1\.2/)
      assert.strictEqual((yield* post(`/api/domains/${id}/verify`)).status, 409)
      assert.deepStrictEqual(yield* look(Effect.succeed(false)), [], "and is not asked for again")
    })
  )

  it.effect("frees its name for others to verify once dropped", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* bought("next-owner.com")
      const other = yield* customer
      const { json } = yield* other.post("/api/domains", { domain: "next-owner.com" })
      yield* sql`
        INSERT INTO mock_zone_records (domain, name, type, value)
        VALUES ('next-owner.com', ${json.txt_name}, 'TXT', ${json.txt_value})
      `
      const held = yield* other.post(`/api/domains/${json.id}/verify`)
      assert.strictEqual(held.status, 409)
      yield* look(Effect.succeed(false))
      const free = yield* other.post(`/api/domains/${json.id}/verify`)
      assert.deepStrictEqual([free.status, free.json.status], [200, "mx_pending"])
    })
  )

  it.effect("frees its name if the operator had disabled it before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domain, id } = yield* bought("disabled-before.com")
      yield* sql`
        UPDATE domains SET status = 'disabled', status_before = 'mx_pending', disabled_reason = 'abuse' WHERE id = ${id}
      `
      yield* look(Effect.succeed(false))
      const { disabled_reason, verified_at } = yield* domain
      assert.deepStrictEqual([disabled_reason, verified_at], ["mock has dropped this name after its term", null])
    })
  )

  for (const [what, says] of [
    ["the registrar still holds it", Effect.succeed(true)],
    ["the registrar does not answer", failure(new Uncertain({ message: "no answer" }))],
    ["the registrar refuses to answer", failure(new Refused({ message: "not now" }))]
  ] as const) {
    it.effect(`is unchanged while ${what}`, () =>
      Effect.gen(function* () {
        const name = `${what.replaceAll(" ", "-")}.com`
        const { domain } = yield* bought(name)
        const before = yield* domain
        assert.include(yield* look(says), name)
        assert.deepStrictEqual(yield* domain, before)
      })
    )
  }

  it.effect("is the only kind that is looked up at the registrar", () =>
    Effect.gen(function* () {
      const someone = yield* customer
      const { json } = yield* someone.buy("within-its-term.com")
      assert.notInclude(yield* look(Effect.succeed(false)), "within-its-term.com")
      const { json: domain } = yield* someone.get(`/api/domains/${json.domain_id}`)
      assert.notStrictEqual(domain.status, "disabled")
    })
  )
})
