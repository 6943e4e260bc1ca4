import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { Conflict, type Invalid, NotFound } from "../model/ApiError.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { BillingProvider, type Order, OrderId, OrderStatus, RegistrarName } from "../model/Order.ts"
import * as Page from "../model/Page.ts"
import { WorkspaceId } from "../model/Workspace.ts"

/** The initial values of an order. */
const NewOrder = Schema.Struct({
  id: OrderId,
  workspaceId: WorkspaceId,
  name: DomainName,
  years: Schema.Int,
  registrar: RegistrarName,
  billing: BillingProvider,
  priceCents: Schema.Int,
  successUrl: Schema.String,
  cancelUrl: Schema.String
})

/** The whole row of an order. */
export const OrderRow = Schema.Struct({
  ...NewOrder.fields,
  status: OrderStatus,
  domainId: Schema.NullOr(DomainId),
  checkoutId: Schema.NullOr(Schema.String),
  checkoutUrl: Schema.NullOr(Schema.String),
  paymentId: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String),
  refundDue: Schema.Boolean,
  /** Attempts of the present step. */
  tries: Schema.Int,
  /** Requests to register the name. */
  registrations: Schema.Int,
  createdAt: Schema.DateTimeUtcFromDate
})
export type OrderRow = typeof OrderRow.Type

/** Maximum unpaid orders of a workspace. Each has a checkout at the payment provider. */
const mostUnpaid = 20

/** Duration of a worker's lease of an order, longer than any step. */
const leaseSeconds = 300

/** Ends the leases of workers that no longer exist. */
export const endLeases = (sql: SqlClient.SqlClient) =>
  sql`UPDATE orders SET leased_until = NULL WHERE leased_until > now()`

/** Stores orders. Fulfilment changes their status. */
export class Orders extends Context.Service<
  Orders,
  {
    /**
     * Creates an order. Fails if this workspace has an open order for the name. It reserves nothing before it is
     * paid.
     */
    insert(order: Omit<typeof NewOrder.Type, "id">): Effect.Effect<OrderRow, Conflict | SqlError>
    get(workspaceId: WorkspaceId, id: OrderId): Effect.Effect<OrderRow, NotFound | SqlError>
    /** Finds an order of any workspace, for the return page. */
    find(id: OrderId): Effect.Effect<OrderRow | undefined, SqlError>
    /** Newest first. `cursor` is the id of the last order of the previous page. */
    list(
      workspaceId: WorkspaceId,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page.Page<OrderRow>, Invalid | SqlError>
    /**
     * Marks the order as paid and leases it to the caller, in the transaction that inserts it. The name is then
     * reserved. Fails if another paid order has it.
     */
    markPaid(id: OrderId): Effect.Effect<OrderRow, Conflict | SqlError>
    /** The current order. */
    read(id: OrderId): Effect.Effect<OrderRow, SqlError>
    /** Leases orders whose next step is due. */
    claimDue(most: number): Effect.Effect<ReadonlyArray<OrderRow>, SqlError>
    /** Ends the lease. The next step is due after `wait`. */
    release(id: OrderId, wait: Duration.Duration): Effect.Effect<void, SqlError>
  }
>()("inlet/purchase/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const lease = sql.literal(`now() + interval '${leaseSeconds} seconds'`)

      const insertRow = SqlSchema.findOne({
        Request: NewOrder,
        Result: OrderRow,
        execute: (order) => sql`
          INSERT INTO orders ${sql.insert({ ...order, status: "pending_payment" })} RETURNING *
        `
      })

      const byId = SqlSchema.findAll({
        Request: OrderId,
        Result: OrderRow,
        execute: (id) => sql`SELECT * FROM orders WHERE id = ${id}`
      })

      const payRow = SqlSchema.findOne({
        Request: OrderId,
        Result: OrderRow,
        execute: (id) => sql`UPDATE orders SET status = 'paid', leased_until = ${lease} WHERE id = ${id} RETURNING *`
      })

      const claimRows = SqlSchema.findAll({
        Request: Schema.Int,
        Result: OrderRow,
        execute: (most) => sql`
          UPDATE orders SET leased_until = ${lease} WHERE id IN (
            SELECT id FROM orders
            WHERE due_at <= now() AND (status IN ('paid', 'registering', 'provisioning') OR refund_due)
              AND (leased_until IS NULL OR leased_until <= now())
            ORDER BY due_at
            LIMIT ${most}
            FOR UPDATE SKIP LOCKED
          )
          RETURNING *
        `
      })

      const selectPage = SqlSchema.findAll({
        Request: Schema.Struct({ workspaceId: WorkspaceId, before: Schema.UndefinedOr(OrderId), limit: Schema.Int }),
        Result: OrderRow,
        execute: ({ before, limit, workspaceId }) => sql`
          SELECT * FROM orders
          WHERE workspace_id = ${workspaceId} ${before === undefined ? sql.literal("") : sql`AND id < ${before}`}
          ORDER BY id DESC LIMIT ${limit}
        `
      })

      const list: Orders["Service"]["list"] = Effect.fn("Orders.list")(function* (workspaceId, { cursor, limit }) {
        const before = yield* Page.idIn(OrderId)(cursor)
        return Page.of(yield* selectPage({ workspaceId, before, limit: limit + 1 }), limit)
      }, Bugs.die)

      const insert: Orders["Service"]["insert"] = Effect.fn("Orders.insert")(
        function* (order) {
          const [open] = yield* sql<{ readonly id: string }>`
            SELECT id FROM orders WHERE workspace_id = ${order.workspaceId} AND name = ${order.name}
              AND status IN ('pending_payment', 'paid', 'registering', 'provisioning')
          `
          if (open !== undefined) {
            return yield* new Conflict({
              message: `This domain already has an open order. GET /api/domains/orders/${open.id} shows it`
            })
          }
          const [unpaid] = yield* sql<{ readonly count: number }>`
            SELECT count(*)::int AS count FROM orders
            WHERE workspace_id = ${order.workspaceId} AND status = 'pending_payment'
          `
          if ((unpaid?.count ?? 0) >= mostUnpaid) {
            return yield* new Conflict({
              message: `This workspace has ${mostUnpaid} unpaid orders. Pay one, or wait until they expire, 25 hours after they were placed. GET /api/domains/orders lists them`
            })
          }
          return yield* insertRow({ ...order, id: OrderId.make(yield* random.uuidV7()) })
        },
        Effect.catchReason(
          "SqlError",
          "UniqueViolation",
          () => new Conflict({ message: "This domain already has an open order. GET /api/domains/orders lists it" })
        ),
        Bugs.die
      )

      const find = Effect.fn("Orders.find")((id: OrderId) => Effect.map(byId(id), ([row]) => row), Bugs.die)

      const get = Effect.fn("Orders.get")(function* (workspaceId: WorkspaceId, id: OrderId) {
        const row = yield* find(id)
        return row?.workspaceId === workspaceId
          ? row
          : yield* new NotFound({
              message: "No order with this id in this workspace. GET /api/domains/orders lists them"
            })
      })

      const read = Effect.fn("Orders.read")(function* (id: OrderId) {
        return (yield* find(id)) ?? (yield* Effect.die(`order ${id} is gone`))
      })

      return Orders.of({
        insert,
        get,
        find,
        list,
        markPaid: Effect.fn("Orders.markPaid")(
          payRow,
          Effect.catchReason(
            "SqlError",
            "UniqueViolation",
            () => new Conflict({ message: "Another order for this domain is in progress. Nothing was charged" })
          ),
          Bugs.die
        ),
        read,
        claimDue: Effect.fn("Orders.claimDue")(claimRows, Bugs.die),
        release: Effect.fn("Orders.release")(
          (id, wait) => sql`
            UPDATE orders SET leased_until = NULL, due_at = now() + make_interval(secs => ${Duration.toSeconds(wait)})
            WHERE id = ${id}
          `,
          Effect.asVoid
        )
      })
    })
  )
}

/** As shown by the API. */
export const toOrder = (row: OrderRow): Order => ({
  order_id: row.id,
  domain: row.name,
  years: row.years,
  registrar: row.registrar,
  price_cents: row.priceCents,
  currency: "USD",
  status: row.status,
  domain_id: row.domainId,
  checkout_url: row.status === "pending_payment" ? row.checkoutUrl : null,
  failure: row.failure,
  next_steps: nextSteps(row),
  created_at: row.createdAt
})

/** Stands for the number of requests once the registrar has taken the order, so that it gets no other one. */
export const accepted = 1_000

/** How a workspace gets a domain back that it bought and deleted. */
export const again = (name: DomainName) =>
  `POST /api/domains with {"domain": "${name}"} attaches it again, until the end of its term.`

/** Whether the bank rejected the refund of a payment. A refunded one is `refunded`. */
export const isRefundRejected = ({ paymentId, refundDue, status }: OrderRow) =>
  status === "failed" && !refundDue && paymentId !== null

const nextSteps = (row: OrderRow): ReadonlyArray<string> => {
  const look = `GET /api/domains/orders/${row.id} shows how it goes on.`
  switch (row.status) {
    case "pending_payment":
      return ["Pay at checkout_url.", look]
    case "paid":
    case "registering":
      return [
        row.registrations < accepted
          ? "The name is being registered; Inlet does the rest."
          : "The registrar has taken the order. The registry has 14 days to register the name; after that, Inlet gives the price back.",
        look
      ]
    case "provisioning":
      return ["The name is registered, and its DNS records are being published; Inlet does the rest.", look]
    case "completed":
      if (row.domainId === null)
        return [`The name is registered; the domain was deleted from this workspace. ${again(row.name)}`]
      return [
        `Inlet verifies the domain by itself once its DNS records are visible, in minutes. GET /api/domains/${row.domainId} has its status.`,
        `Once that is mx_pending, verified or live, it takes mail: set its webhook with PATCH /api/domains/${row.domainId}/delivery, unless it has one.`
      ]
    case "expired":
      return ["The checkout was not paid, and nothing was charged. Order again with POST /api/domains/purchase."]
    case "failed":
    case "refunded":
      return [
        isRefundRejected(row)
          ? "The bank rejected the refund of the price. Ask the operator of this service for it."
          : row.refundDue
            ? "The price is being given back."
            : "If you paid, the price was given back.",
        "Order again with POST /api/domains/purchase, or choose another name."
      ]
  }
}
