import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OrderLooks } from "../../src/purchase/PurchaseWorker.ts"
import type { Answer, CallOptions } from "../ApiCall.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Namecheap from "../simulators/Namecheap.ts"
import * as Openprovider from "../simulators/Openprovider.ts"
import { StripeSimulator } from "../simulators/Stripe.ts"
import { Vendor } from "../simulators/Vendor.ts"
import { TestInlet } from "../TestInlet.ts"

export const namecheapSettings = (url: string) => ({
  NAMECHEAP_API_URL: url,
  NAMECHEAP_API_USER: Namecheap.apiUser,
  NAMECHEAP_API_KEY: Namecheap.apiKey,
  NAMECHEAP_CLIENT_IP: Namecheap.clientIp,
  NAMECHEAP_CONTACT_FIRST_NAME: "Ada",
  NAMECHEAP_CONTACT_LAST_NAME: "Lovelace",
  NAMECHEAP_CONTACT_ADDRESS: "12 Example Square",
  NAMECHEAP_CONTACT_CITY: "London",
  NAMECHEAP_CONTACT_STATE: "London",
  NAMECHEAP_CONTACT_POSTAL_CODE: "SW1Y 4JH",
  NAMECHEAP_CONTACT_COUNTRY: "GB",
  NAMECHEAP_CONTACT_PHONE: "+44.2079460000",
  NAMECHEAP_CONTACT_EMAIL: "ada@example.com"
})

export const openproviderSettings = (url: string) => ({
  OPENPROVIDER_API_URL: url,
  OPENPROVIDER_USERNAME: Openprovider.username,
  OPENPROVIDER_PASSWORD: Openprovider.password,
  OPENPROVIDER_OWNER_HANDLE: Openprovider.ownerHandle,
  OPENPROVIDER_NS_GROUP: Openprovider.nsGroup
})

export const stripeSettings = ({
  secretKey,
  url,
  webhookSecret
}: Pick<StripeSimulator["Service"], "secretKey" | "url" | "webhookSecret">) => ({
  BILLING_PROVIDER: "stripe",
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: url
})

/** Both registrars, each on its own port. */
export class Vendors extends Context.Service<
  Vendors,
  { readonly namecheap: Vendor["Service"]; readonly openprovider: Vendor["Service"] }
>()("inlet/test/purchase/Vendors") {
  static readonly layer = Layer.effect(
    Vendors,
    Effect.gen(function* () {
      return {
        namecheap: Context.get(yield* Layer.build(Namecheap.layer), Vendor),
        openprovider: Context.get(yield* Layer.build(Openprovider.layer), Vendor)
      }
    })
  )
}

/** The service with a registrar's simulator and the wallet. */
const inletWith = (
  registrar: "namecheap" | "openprovider",
  simulator: Layer.Layer<Vendor>,
  settingsOf: (url: string) => Readonly<Record<string, string>>
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { server } = yield* DnsServer
      const { url } = yield* Vendor
      return TestInlet.layer({ DNS_SERVERS: server, REGISTRAR_PRIMARY: registrar, ...settingsOf(url) })
    })
  ).pipe(
    Layer.provide(Layer.succeed(OrderLooks, { interval: "50 millis" })),
    Layer.provideMerge(Layer.merge(DnsServer.layer, simulator))
  )

export const inletWithNamecheap = (settings: Readonly<Record<string, string>> = {}) =>
  inletWith("namecheap", Namecheap.layer, (url) => ({ ...namecheapSettings(url), ...settings }))

export const inletWithOpenprovider = inletWith("openprovider", Openprovider.layer, openproviderSettings)

/** The service with the Namecheap simulator and the checkout of the Stripe simulator. */
export const inletWithStripe = Layer.unwrap(
  Effect.map(StripeSimulator, (stripe) => inletWithNamecheap(stripeSettings(stripe)))
).pipe(Layer.provideMerge(StripeSimulator.layer))

/** The actions of a workspace in the shop. */
export interface Customer {
  readonly id: string
  readonly key: string
  buy(domain: string, more?: Readonly<Record<string, unknown>>): Effect.Effect<Answer>
  order(id: string): Effect.Effect<Answer["json"]>
  /** The order once it has this status. */
  orderThatIs(id: string, status: string): Effect.Effect<Answer["json"]>
  readonly wallet: Effect.Effect<Answer["json"]>
  get(path: string): Effect.Effect<Answer>
  post(path: string, body?: unknown): Effect.Effect<Answer>
}

/** A workspace, through any way to call the API. */
export const customerOf = (
  call: (method: "GET" | "POST", path: string, options?: CallOptions) => Effect.Effect<Answer>,
  { id, key }: { readonly id: string; readonly key: string }
): Customer => {
  const get = (path: string) => call("GET", path, { key })
  const post = (path: string, body?: unknown) => call("POST", path, { key, body })
  const order = (orderId: string) => Effect.map(get(`/api/domains/orders/${orderId}`), ({ json }) => json)
  return {
    id,
    key,
    get,
    post,
    order,
    buy: (domain, more = {}) => post("/api/domains/purchase", { domain, years: 1, ...more }),
    orderThatIs: (orderId, status) => eventually(order(orderId), (seen) => seen.status === status),
    wallet: Effect.map(get("/api/domains/wallet"), ({ json }) => json)
  }
}

/** A new workspace. */
export const customer = Effect.gen(function* () {
  const inlet = yield* TestInlet
  return customerOf(inlet.call, yield* inlet.workspace)
})

/** Makes the next check of an order due. */
export const letDue = Effect.fnUntraced(function* (orderId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE orders SET due_at = now() WHERE id = ${orderId}`
})

/** Checks that the ledger sums to the balance, which is not negative. */
export const addsUp = (wallet: Answer["json"]): boolean =>
  wallet.balance_cents >= 0 &&
  wallet.balance_cents ===
    wallet.entries.reduce((sum: number, { amount_cents }: { readonly amount_cents: number }) => sum + amount_cents, 0)

/** The kinds of one order's ledger entries, oldest first. */
export const kindsOf = (wallet: Answer["json"], orderId: string): ReadonlyArray<string> =>
  wallet.entries
    .filter(({ order_id }: { readonly order_id: string }) => order_id === orderId)
    .map(({ kind }: { readonly kind: string }) => kind)
    .toReversed()
