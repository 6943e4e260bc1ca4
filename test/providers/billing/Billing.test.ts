import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { DomainName } from "../../../src/model/Domain.ts"
import { OrderId } from "../../../src/model/Order.ts"
import { WorkspaceId } from "../../../src/model/Workspace.ts"
import { type Bill, Billing } from "../../../src/providers/billing/Billing.ts"
import * as BillingMock from "../../../src/providers/billing/BillingMock.ts"
import * as BillingStripe from "../../../src/providers/billing/BillingStripe.ts"
import { Wallet } from "../../../src/providers/billing/Wallet.ts"
import { StripeSimulator } from "../../simulators/Stripe.ts"
import * as TestDatabase from "../../TestDatabase.ts"

type PaidBill = Bill & { readonly paymentId: string | null }

/** The counterpart of a billing layer: a paying customer, and the books. */
class Till extends Context.Service<
  Till,
  {
    /** An order that its customer has paid. */
    readonly paidOrder: Effect.Effect<PaidBill>
    /** An order that cannot be paid at once, or at all. */
    readonly newOrder: Effect.Effect<Bill>
    /** The refunded cents of an order, one entry for each refund. */
    givenBack(bill: PaidBill): Effect.Effect<ReadonlyArray<number>>
  }
>()("inlet/test/Till") {}

// The contract of every billing provider.
const contract = <E>(name: string, provider: "mock" | "stripe", world: Layer.Layer<Billing | Till, E>) =>
  layer(world, { excludeTestServices: true })(`Billing through ${name}`, (it) => {
    it.effect("returns its name", () =>
      Effect.gen(function* () {
        assert.strictEqual<string>((yield* Billing).provider, provider)
      })
    )

    it.effect("refunds a paid order in full, once for any number of requests", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const till = yield* Till
        const order = yield* till.paidOrder
        assert.deepStrictEqual(yield* till.givenBack(order), [])
        yield* billing.refund(order)
        yield* billing.refund(order)
        yield* Effect.all([billing.refund(order), billing.refund(order)], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* till.givenBack(order), [order.priceCents])
      })
    )

    it.effect("refunds only the order in question", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const till = yield* Till
        const [refunded, kept] = [yield* till.paidOrder, yield* till.paidOrder]
        yield* billing.refund(refunded)
        assert.deepStrictEqual(yield* till.givenBack(refunded), [refunded.priceCents])
        assert.deepStrictEqual(yield* till.givenBack(kept), [])
      })
    )

    it.effect("debits at once or returns a checkout, never both", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const order = yield* (yield* Till).newOrder
        assert.strictEqual(yield* billing.charge(order), provider === "mock")
      })
    )
  })

/** The order row that the ledger refers to, in a workspace of its own. */
const insertOrder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const bill: Bill = {
    orderId: OrderId.make(yield* random.uuidV7()),
    workspaceId: WorkspaceId.make(yield* random.uuidV7()),
    domain: DomainName.make("example.com"),
    years: 1,
    priceCents: 1_298
  }
  yield* sql`
    INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
    VALUES (${bill.workspaceId}, 'buyer', ${yield* random.randomBytes(32)}, ${yield* random.randomBytes(32)})
  `
  yield* sql`
    INSERT INTO orders (
      id, workspace_id, name, years, registrar, billing, price_cents, status, success_url, cancel_url
    )
    VALUES (
      ${bill.orderId}, ${bill.workspaceId}, ${bill.domain}, ${bill.years}, 'mock', 'mock', ${bill.priceCents},
      'pending_payment', 'https://shop.example/', 'https://shop.example/'
    )
  `
  return bill
}).pipe(Effect.orDie)

const walletTill = Layer.effect(
  Till,
  Effect.gen(function* () {
    const services = yield* Effect.context<SqlClient.SqlClient | SecureRandom.SecureRandom>()
    const billing = yield* Billing
    const wallet = yield* Wallet
    const newOrder = Effect.provideContext(insertOrder, services)
    return Till.of({
      newOrder,
      paidOrder: Effect.gen(function* () {
        const bill = yield* newOrder
        yield* billing.charge(bill)
        return { ...bill, paymentId: null }
      }).pipe(Effect.orDie),
      givenBack: ({ orderId, workspaceId }) =>
        Effect.map(wallet.get(workspaceId), ({ entries }) =>
          entries
            .filter((entry) => entry.kind === "refund" && entry.orderId === orderId)
            .map(({ amountCents }) => amountCents)
        ).pipe(Effect.orDie)
    })
  })
)

const stripeTill = Layer.effect(
  Till,
  Effect.gen(function* () {
    const billing = yield* Billing
    const simulator = yield* StripeSimulator
    const random = yield* SecureRandom.SecureRandom
    const newOrder = Effect.gen(function* () {
      return {
        orderId: OrderId.make(yield* random.uuidV7()),
        workspaceId: WorkspaceId.make(yield* random.uuidV7()),
        domain: DomainName.make("example.com"),
        years: 1,
        priceCents: 1_298
      }
    })
    return Till.of({
      newOrder,
      paidOrder: Effect.gen(function* () {
        const bill = yield* newOrder
        const urls = { successUrl: "https://shop.example/success", cancelUrl: "https://shop.example/cancel" }
        const checkout = yield* billing.checkout({ ...bill, ...urls })
        const paid = yield* simulator.pay(checkout.id)
        return { ...bill, paymentId: paid.data.object.payment_intent }
      }).pipe(Effect.orDie),
      givenBack: ({ paymentId }) =>
        Effect.map(simulator.refunds, (refunds) =>
          refunds.filter((refund) => refund.payment_intent === paymentId).map(({ amount }) => amount)
        )
    })
  })
)

const stripe = Layer.unwrap(
  Effect.map(StripeSimulator, ({ secretKey, url, webhookSecret }) =>
    BillingStripe.layer({
      secretKey: Redacted.make(secretKey),
      webhookSecret: Redacted.make(webhookSecret),
      apiUrl: url
    })
  )
)

contract(
  "the wallet",
  "mock",
  walletTill.pipe(Layer.provideMerge(BillingMock.layer), Layer.provide([TestDatabase.layer, NodeCrypto.layer]))
)
contract(
  "Stripe",
  "stripe",
  stripeTill.pipe(Layer.provideMerge(stripe), Layer.provide([StripeSimulator.layer, NodeCrypto.layer]))
)
