import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { verify } from "../../src/effect.ts"
import type { Answer } from "../ApiCall.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import { type Customer, customerOf, inletWithStripe, openproviderSettings, stripeSettings } from "../purchase/Shop.ts"
import * as Openprovider from "../simulators/Openprovider.ts"
import { StripeSimulator } from "../simulators/Stripe.ts"
import { Vendor } from "../simulators/Vendor.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The cheapest name of a search for `agent`. */
const cheapest = Effect.fnUntraced(function* ({ get }: Customer) {
  const { json } = yield* get("/api/domains/search?q=agent")
  const offers = json.results.filter(({ available }: Answer["json"]) => available)
  return offers.toSorted((a: Answer["json"], b: Answer["json"]) => a.price_cents - b.price_cents)[0]
})

/** The domain's statuses until DNS has propagated and it is verified by itself. */
const verified = ({ get }: Customer, domainId: string) =>
  eventually(
    Effect.map(get(`/api/domains/${domainId}`), ({ json }) => json),
    ({ status }) => status === "mx_pending"
  )

/** A verified domain works like any other: a webhook is set and receives a mail. */
const receives = Effect.fnUntraced(function* (
  inlet: Pick<TestInlet["Service"], "call" | "smtpPort">,
  { key, secret }: { readonly key: string; readonly secret: string },
  { domain, id }: Answer["json"]
) {
  const receiver = yield* WebhookReceiver
  yield* inlet.call("PATCH", `/api/domains/${id}/delivery`, { key, body: { webhookUrl: receiver.url } })
  yield* Mail.send(inlet.smtpPort, { to: `research@${domain}`, subject: "To a bought name" })
  const request = yield* receiver.next
  const event = yield* verify({ headers: request.headers, rawBody: request.body, secret })
  assert.strictEqual(event.recipient, `research@${domain}`)
  assert.strictEqual(event.subject, "To a bought name")
  yield* eventually(inlet.call("GET", `/api/domains/${id}`, { key }), ({ json }) => json.status === "live")
})

describe("A purchase", () => {
  it.live("with default settings goes from search to a mail at the webhook without an operator", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start(yield* InletProcess.installation)
      const { json: workspace } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "agents" } })
      const agent = customerOf(inlet.call, { id: workspace.workspace_id, key: workspace.api_key })
      const offer = yield* cheapest(agent)
      assert.deepStrictEqual([offer.domain, offer.price, offer.registrar], ["agent.com", "12.98", "mock"])

      const { json: order, status } = yield* agent.buy(offer.domain)
      assert.deepStrictEqual([status, order.status, order.price_cents], [201, "completed", offer.price_cents])
      const domain = yield* verified(agent, order.domain_id)
      assert.strictEqual((yield* agent.wallet).balance, "37.02")
      yield* receives(inlet, { key: agent.key, secret: workspace.webhook_signing_secret }, domain)
    }).pipe(Effect.provide(WebhookReceiver.layer))
  )
})

/** The answers of the registrar's name servers for a name after propagation. */
const spread = Effect.fnUntraced(function* (name: string) {
  const vendor = yield* Vendor
  const dns = yield* DnsServer
  const zone = (yield* vendor.zone(name)) ?? []
  const at = (record: { readonly name: string }) => (record.name === "@" ? name : `${record.name}.${name}`)
  for (const record of zone) {
    yield* record.type === "MX"
      ? dns.answer("MX", at(record), { mx: [[record.priority, record.value]] })
      : dns.answer("TXT", at(record), { text: [record.value] })
  }
})

const throughTheCheckout = <E>(
  registrar: string,
  world: Layer.Layer<TestInlet | SqlClient.SqlClient | StripeSimulator | Vendor | DnsServer, E>
) =>
  layer(Layer.merge(world, WebhookReceiver.layer), { excludeTestServices: true })(
    `A purchase through Stripe and ${registrar}`,
    (it) => {
      it.effect("goes from search through payment to a mail at the webhook", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const stripe = yield* StripeSimulator
          const vendor = yield* Vendor
          const dns = yield* DnsServer
          const sql = yield* SqlClient.SqlClient
          const workspace = yield* inlet.workspace
          const agent = customerOf(inlet.call, workspace)
          const offer = yield* cheapest(agent)
          assert.deepStrictEqual([offer.domain, offer.price, offer.registrar], ["agent.org", "10.47", registrar])

          const { json: order, status } = yield* agent.buy(offer.domain, { years: 2 })
          assert.deepStrictEqual([status, order.status, order.price_cents], [202, "pending_payment", 2 * 748 + 299])
          assert.strictEqual(yield* vendor.asked("register"), 0)

          const [session] = yield* stripe.sessions
          assert.strictEqual(session?.url, order.checkout_url)
          const paid = yield* stripe.pay(session?.id ?? "")
          assert.deepStrictEqual(yield* stripe.send(paid, `${inlet.url}/api/webhooks/stripe`), [200])
          const { domain_id } = yield* agent.orderThatIs(order.order_id, "completed")
          assert.strictEqual((yield* vendor.sale("agent.org"))?.years, 2)
          assert.strictEqual(yield* vendor.asked("register"), 1)

          // The domain is not in DNS yet, so it waits and is checked again.
          yield* eventually(dns.asked("TXT", "_service-verify.agent.org"), (count) => count > 0)
          assert.strictEqual((yield* agent.get(`/api/domains/${domain_id}`)).json.status, "pending_verification")
          yield* spread("agent.org")
          yield* sql`UPDATE domains SET verify_at = now() WHERE id = ${domain_id}`
          const domain = yield* verified(agent, domain_id)
          const mx = yield* agent.get(`/api/domains/${domain_id}/mx`)
          assert.isTrue(mx.json.configured)
          yield* receives(inlet, workspace, domain)
        })
      )
    }
  )

throughTheCheckout("namecheap", inletWithStripe)

throughTheCheckout(
  "openprovider",
  Layer.unwrap(
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const { server } = yield* DnsServer
      const { url } = yield* Vendor
      return TestInlet.layer({
        DNS_SERVERS: server,
        REGISTRAR_PRIMARY: "openprovider",
        ...openproviderSettings(url),
        ...stripeSettings(stripe)
      })
    })
  ).pipe(Layer.provideMerge(Layer.mergeAll(DnsServer.layer, Openprovider.layer, StripeSimulator.layer)))
)
