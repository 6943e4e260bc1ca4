import { Context, type Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { txtName } from "../domains/DnsRecords.ts"
import * as PurchasedRows from "../domains/PurchasedRows.ts"
import { DomainId } from "../model/Domain.ts"
import type { OrderStatus } from "../model/Order.ts"
import { Billing, BillingError } from "../providers/billing/Billing.ts"
import { type Registrar, RegistrarError, Uncertain } from "../providers/registrar/Registrar.ts"
import { Registrars, type Vendor } from "../providers/registrar/Registrars.ts"
import * as Settings from "../Settings.ts"
import * as HeldElsewhere from "./HeldElsewhere.ts"
import { accepted, type OrderRow } from "./Orders.ts"

/** Number of requests to register without effect after which an order fails. */
const mostRegistrations = 5

/**
 * Number of looks since the first request after which an order fails that the registry has not registered. From the
 * eighth on they are an hour apart, so it has 14 days. Downtime of Inlet does not count.
 */
export const mostLooks = 7 + 14 * 24

/** The time of one step, in which a vendor answers several calls. Tests shorten it. */
export const StepTime = Context.Reference("inlet/purchase/StepTime", {
  defaultValue: (): Duration.Input => "1 minute"
})

/** The failure of an order whose domain was taken between quote and registration. */
export const nameTaken = "The name was taken meanwhile"

/** The failure of an order that was never requested, because the operator stopped using its registrar. */
const notConfigured = "The registrar of the order is not configured any more"

/**
 * The steps of a paid order: `paid → registering → provisioning → completed`, or a refund. Each is recorded before
 * the next starts, and first checks the current state, so that it can be repeated.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const billing = yield* Billing
  const registrars = yield* Registrars
  const { mxHost } = yield* Settings.platform
  const stepTime = yield* StepTime
  const isHeldElsewhere = yield* HeldElsewhere.make

  const write = (order: OrderRow, status: OrderStatus) =>
    sql`UPDATE orders SET status = ${status} WHERE id = ${order.id} AND status = ${order.status}`

  /** Whether an earlier order got the name, so that the account's domain is not this order's. */
  const soldToAnother = (order: OrderRow) =>
    Effect.map(
      sql`
        SELECT 1 FROM orders
        WHERE name = ${order.name} AND registrar = ${order.registrar} AND status = 'completed'
          AND id <> ${order.id} AND created_at + make_interval(years => years) > now()
      `,
      (rows) => rows.length > 0
    )

  /** Why an order must not be registered. */
  const refusalOf = Effect.fnUntraced(function* (order: OrderRow) {
    if (yield* soldToAnother(order)) return nameTaken
    return order.registrations === 0 && (yield* isHeldElsewhere(order)) ? HeldElsewhere.heldElsewhere : undefined
  })

  /** paid → registering. */
  const begin = Effect.fnUntraced(function* (order: OrderRow) {
    const refusal = yield* refusalOf(order)
    if (refusal !== undefined) return yield* fail(order, refusal)
    yield* write(order, "registering")
  })

  /** registering → provisioning. From the payment on, no other order can be paid for the name. */
  const register = Effect.fnUntraced(function* (order: OrderRow, registrar: Registrar["Service"]) {
    const refusal = yield* refusalOf(order)
    if (refusal !== undefined) return yield* fail(order, refusal)
    yield* sql`UPDATE orders SET tries = tries + 1 WHERE id = ${order.id}`
    const holds = registrar.holds(order.name)
    const isLate = (error: RegistrarError) => isPending(error) && order.tries >= mostLooks
    const held = yield* Effect.mapError(
      Effect.catchIf(holds, isLate, () => Effect.succeed("late" as const)),
      uncertain
    )
    if (held === "late") return yield* failLate(order)
    if (!held) {
      if (order.registrations >= mostRegistrations) return yield* giveUp(order, registrar)
      // Stored before the request. From here on the registration may have happened.
      yield* sql`
        UPDATE orders SET registrations = registrations + 1, tries = CASE WHEN registrations = 0 THEN 1 ELSE tries END
        WHERE id = ${order.id}
      `
      yield* registrar.register({ name: order.name, years: order.years, orderId: order.id }).pipe(
        // A second attempt may be refused because the first one, whose answer was lost, succeeded or is pending.
        Effect.catchTag("RegistrarError", (error) =>
          order.registrations === 0 || error.reason._tag === "Uncertain"
            ? Effect.fail(error)
            : Effect.flatMap(Effect.mapError(holds, uncertain), (isOurs) =>
                isOurs ? Effect.void : Effect.fail(uncertain(error))
              )
        ),
        Effect.tapErrorTag("RegistrarError", (error) =>
          isPending(error)
            ? Effect.asVoid(sql`UPDATE orders SET registrations = ${accepted} WHERE id = ${order.id}`)
            : Effect.void
        )
      )
    }
    yield* attach(order)
  })

  /**
   * Ends an order after its last request, if the name is still for sale or the registry has had its time. Until then it
   * may register the name for an accepted request, also for one whose answer was lost.
   */
  const giveUp = Effect.fnUntraced(function* (order: OrderRow, registrar: Registrar["Service"]) {
    if (order.tries >= mostLooks) return yield* failLate(order)
    if (order.registrations < accepted) {
      const offered = yield* Effect.mapError(registrar.quote([order.name], order.years), uncertain)
      if (offered.has(order.name)) return yield* fail(order, "The registrar did not register the name")
    }
    return yield* notYet(order)
  })

  /** Ends an order that the registry has not registered in its time. */
  const failLate = (order: OrderRow) =>
    Effect.andThen(
      fail(order, "The registry did not register the name within 14 days"),
      Effect.logError(
        "A registry did not register a name within 14 days. Look for its order at the registrar, and cancel it"
      )
    )

  /** One statement changes the domain and the order. */
  const attach = Effect.fnUntraced(function* (order: OrderRow) {
    const id = DomainId.make(yield* random.uuidV7())
    const token = Buffer.from(yield* random.randomBytes(16)).toString("hex")
    const { name, registrar, workspaceId, years } = order
    const domain = { id, workspaceId, name, registrar, years, txtValue: `service_verify_${token}` }
    yield* sql`
      WITH attached AS (
        ${PurchasedRows.insertPurchased(sql, domain)}
      )
      UPDATE orders SET status = 'provisioning', domain_id = attached.id, tries = 0, failure = NULL
      FROM attached WHERE orders.id = ${order.id} AND orders.status = 'registering'
    `
  })

  /** Publishes the records: provisioning → completed. */
  const publish = Effect.fnUntraced(function* (order: OrderRow, { dnsHost }: Vendor) {
    const [domain] = yield* sql<{ readonly txtValue: string }>`
      SELECT txt_value FROM domains WHERE id = ${order.domainId}
    `
    // Removed meanwhile: the customer owns the name, and there are no records to publish.
    if (domain !== undefined) {
      yield* dnsHost.publish(order.name, [
        { type: "MX", name: "@", priority: 10, value: mxHost },
        { type: "TXT", name: txtName(order.name).slice(0, -order.name.length - 1), value: domain.txtValue },
        { type: "TXT", name: "@", value: "v=spf1 -all" }
      ])
    }
    yield* write(order, "completed")
  })

  /** Ends an order that was certainly not registered, with a refund. */
  const fail = Effect.fnUntraced(function* (order: OrderRow, failure: string) {
    yield* sql`
      UPDATE orders SET status = 'failed', failure = ${failure}, refund_due = true, tries = 0
      WHERE id = ${order.id} AND status = ${order.status}
    `
    yield* Effect.logWarning("An order failed. Inlet refunds its price", failure)
  })

  const giveBack = Effect.fnUntraced(function* (order: OrderRow) {
    if (order.billing !== billing.provider) {
      return yield* new BillingError({
        message: `The order was paid with BILLING_PROVIDER=${order.billing}. Refund it there, or set that again`
      })
    }
    yield* billing.refund({
      orderId: order.id,
      workspaceId: order.workspaceId,
      domain: order.name,
      years: order.years,
      priceCents: order.priceCents,
      paymentId: order.paymentId
    })
    yield* sql`
      UPDATE orders SET refund_due = false, status = ${order.billing === "mock" ? "failed" : "refunded"}
      -- Stripe may have told meanwhile that the refund failed.
      WHERE id = ${order.id} AND refund_due
    `
  })

  /** Fails until the registrar is configured again. Without a request so far the order ends after 14 days of looks. */
  const waitForRegistrar = Effect.fnUntraced(function* (order: OrderRow) {
    if (order.status === "registering") {
      if (order.registrations === 0 && order.tries >= mostLooks) return yield* fail(order, notConfigured)
      yield* sql`UPDATE orders SET tries = tries + 1 WHERE id = ${order.id}`
    }
    const reason = new Uncertain({ message: "the registrar is no longer configured" })
    return yield* new RegistrarError({ registrar: order.registrar, reason })
  })

  /** A step of the order's registrar, which may no longer be configured. */
  const withVendor = <E>(order: OrderRow, use: (vendor: Vendor) => Effect.Effect<void, E>) => {
    const vendor = registrars.get(order.registrar)
    return vendor === undefined ? waitForRegistrar(order) : use(vendor)
  }

  const next = (order: OrderRow): Effect.Effect<void, RegistrarError | BillingError | SqlError> => {
    if (order.refundDue) return giveBack(order)
    switch (order.status) {
      case "paid":
        return begin(order)
      case "registering":
        return withVendor(order, ({ registrar }) => register(order, registrar))
      case "provisioning":
        return withVendor(order, (vendor) => publish(order, vendor))
      default:
        return Effect.void
    }
  }

  const late = ({ refundDue, registrar }: OrderRow) => {
    const message = "no answer in time"
    return refundDue
      ? new BillingError({ message })
      : new RegistrarError({ registrar, reason: new Uncertain({ message }) })
  }

  /** One step, or none if there is nothing to do. Fails as without an answer if it takes too long. */
  const step = (order: OrderRow) =>
    Effect.timeoutOrElse(next(order), { duration: stepTime, orElse: () => Effect.fail(late(order)) })

  return { step, fail }
})

/** The registrar has taken the request, and the registry registers the name later. */
const isPending = ({ reason }: RegistrarError) => reason._tag === "Uncertain" && reason.isAccepted === true

const notYet = ({ registrar }: OrderRow) =>
  new RegistrarError({
    registrar,
    reason: new Uncertain({ message: "the registry has not registered the name yet", isAccepted: true })
  })

/** This call had no effect, but an earlier one may have succeeded. */
const uncertain = ({ reason, registrar }: RegistrarError) =>
  new RegistrarError({
    registrar,
    reason: new Uncertain({ message: reason._tag === "NameTaken" ? "the name is taken, maybe by us" : reason.message })
  })
