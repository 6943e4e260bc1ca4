import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as NotFoundPage from "../../src/http/pages/NotFoundPage.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const operator = { key: "the operator's token" }

const World = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) => TestInlet.layer({ DNS_SERVERS: server, ADMIN_TOKEN: operator.key }))
).pipe(Layer.provideMerge(DnsServer.layer))

/** A workspace that wants the name. */
const claimant = Effect.fnUntraced(function* (name: string) {
  const inlet = yield* TestInlet
  const dns = yield* DnsServer
  const { key } = yield* inlet.workspace
  const register = Effect.map(inlet.call("POST", "/api/domains", { key, body: { domain: name } }), ({ json }) => ({
    key,
    domainId: json.id as string,
    txtName: json.txt_name as string,
    txtValue: json.txt_value as string
  }))
  const domain = yield* register
  const path = `/api/domains/${domain.domainId}`
  return {
    ...domain,
    register,
    /** Publishes its record as the only one of the name. */
    publish: dns.answer("TXT", domain.txtName, { text: [domain.txtValue] }),
    verify: inlet.call("POST", `${path}/verify`, { key }),
    remove: inlet.call("DELETE", path, { key }),
    get: inlet.call("GET", path, { key })
  }
})

const holder = Effect.fnUntraced(function* (name: string) {
  const domain = yield* claimant(name)
  yield* domain.publish
  assert.strictEqual((yield* domain.verify).status, 200)
  return domain
})

const send = Effect.fnUntraced(function* (to: string, subject: string) {
  const inlet = yield* TestInlet
  return yield* Mail.send(inlet.smtpPort, { to, subject }).pipe(
    Effect.map((reply) => Number(reply.slice(0, 3))),
    Effect.catch(({ code }) => Effect.succeed(code))
  )
})

const subjects = (inbox: Mailbox.Inbox) => Effect.map(Mailbox.events(inbox), (events) => events.map((e) => e.subject))

layer(World, { excludeTestServices: true })("The holder of a domain name", (it) => {
  it.effect("receives its mail, but not the mail of a subdomain with another holder", () =>
    Effect.gen(function* () {
      const parent = yield* holder("family.example.com")
      const child = yield* holder("mail.family.example.com")
      assert.strictEqual(yield* send("a@family.example.com", "for the parent"), 250)
      assert.strictEqual(yield* send("a@MAIL.family.example.com", "for the child"), 250)
      assert.strictEqual(yield* send("a@x.mail.family.example.com", "for nobody"), 550)
      assert.strictEqual(yield* send("a@other.family.example.com", "for nobody"), 550)
      assert.deepStrictEqual(yield* subjects(parent), ["for the parent"])
      assert.deepStrictEqual(yield* subjects(child), ["for the child"])
    })
  )

  it.effect("of a look-alike holds a different name, shown in its xn-- form", () =>
    Effect.gen(function* () {
      const cyrillic = yield* holder("аррӏе.com")
      assert.strictEqual((yield* cyrillic.get).json.domain, "xn--80ak6aa92e.com")
      assert.strictEqual(yield* send("a@apple.com", "for the real one"), 550)
      assert.strictEqual(yield* send("a@xn--80ak6aa92e.com", "for the look-alike"), 250)
      const latin = yield* holder("apple.com")
      assert.strictEqual(yield* send("a@apple.com", "for the real one"), 250)
      assert.deepStrictEqual(yield* subjects(cyrillic), ["for the look-alike"])
      assert.deepStrictEqual(yield* subjects(latin), ["for the real one"])
      const [event] = yield* Mailbox.events(cyrillic)
      assert.strictEqual(event.domain, "xn--80ak6aa92e.com")
    })
  )

  it.effect("is not affected by other workspaces that wait for the name", () =>
    Effect.gen(function* () {
      const first = yield* holder("wanted.example.com")
      const other = yield* claimant("wanted.example.com")
      assert.strictEqual((yield* other.verify).status, 409)
      assert.strictEqual(yield* send("a@wanted.example.com", "as before"), 250)
      assert.deepStrictEqual(yield* subjects(first), ["as before"])
      assert.deepStrictEqual(yield* subjects(other), [])
    })
  )

  it.effect("keeps the name without its record while another workspace proves it, until the operator releases it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const seller = yield* holder("sold.example.com")
      const buyer = yield* claimant("sold.example.com")
      yield* buyer.publish
      const { json, status } = yield* buyer.verify
      assert.strictEqual(status, 409)
      assert.match(json.error, /^Another workspace holds this domain/)
      assert.strictEqual(yield* send("a@sold.example.com", "for the seller"), 250)
      assert.deepStrictEqual(yield* subjects(seller), ["for the seller"])

      // A disabled domain refuses its mail and keeps the name.
      yield* inlet.call("POST", "/admin/domains/sold.example.com/disable", operator)
      assert.strictEqual(yield* send("a@sold.example.com", "for nobody"), 550)
      assert.strictEqual((yield* buyer.verify).status, 409)

      const before = (yield* seller.get).json
      const removed = yield* inlet.call("DELETE", "/admin/domains/sold.example.com", operator)
      assert.strictEqual(removed.status, 200)
      assert.deepStrictEqual({ ...removed.json.domains[0], webhook_failing: null }, before)
      assert.strictEqual((yield* seller.get).status, 404)
      yield* eventually(Mailbox.onDisk(seller.domainId), (left) => left.length === 0)
      assert.strictEqual((yield* buyer.verify).status, 200)
      assert.strictEqual(yield* send("a@sold.example.com", "for the buyer"), 250)
      assert.deepStrictEqual(yield* subjects(buyer), ["for the buyer"])
    })
  )

  it.effect("loses the name only to the operator", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const waiting = yield* claimant("waiting.example.com")
      const none = yield* inlet.call("DELETE", "/admin/domains/waiting.example.com", operator)
      assert.deepStrictEqual([none.status, none.json], [404, { error: "No workspace holds waiting.example.com" }])
      const held = yield* holder("safe.example.com")
      for (const key of [undefined, waiting.key, held.key]) {
        const { json, status } = yield* inlet.call("DELETE", "/admin/domains/safe.example.com", { key })
        assert.deepStrictEqual([status, json], [404, { error: NotFoundPage.noRoute }])
      }
      assert.strictEqual((yield* inlet.call("DELETE", "/admin/domains/com", operator)).status, 400)
      assert.strictEqual((yield* held.get).status, 200)
      assert.strictEqual((yield* waiting.get).status, 200)
    })
  )

  it.effect("that removes the domain receives no more mail, and needs a new record to return", () =>
    Effect.gen(function* () {
      const first = yield* holder("left.example.com")
      yield* first.remove
      // Its MX record may still point here.
      assert.strictEqual(yield* send("a@left.example.com", "late"), 550)
      const again = yield* first.register
      assert.match(again.txtValue, /^service_verify_[0-9a-f]{32}$/)
      assert.notStrictEqual(again.txtValue, first.txtValue)
      const inlet = yield* TestInlet
      const { json, status } = yield* inlet.call("POST", `/api/domains/${again.domainId}/verify`, { key: first.key })
      assert.strictEqual(status, 409)
      assert.match(json.error, /has another value/)
      assert.strictEqual(yield* send("a@left.example.com", "late"), 550)
    })
  )
})
