import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../../database/Bugs.ts"
import { Conflict } from "../../model/ApiError.ts"
import * as Cents from "../../model/Cents.ts"
import { OrderId } from "../../model/Order.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"
import type { Bill, WalletStatement } from "./Billing.ts"

/** The initial balance of every workspace: $50.00 (spec, section 8). */
const openingCents = 5_000

const Entry = Schema.Struct({
  orderId: Schema.NullOr(OrderId),
  amountCents: Schema.Int,
  kind: Schema.Literals(["opening", "debit", "refund"]),
  createdAt: Schema.DateTimeUtcFromDate
})

/** The mock balance of a workspace: a ledger whose entries sum to the balance, which is never negative. */
export class Wallet extends Context.Service<
  Wallet,
  {
    /** Debits the price of an order, in the caller's transaction. */
    debit(bill: Bill): Effect.Effect<void, Conflict | SqlError>
    /** Refunds the price of an order, once. */
    refund(bill: Bill): Effect.Effect<void, SqlError>
    get(workspaceId: WorkspaceId): Effect.Effect<WalletStatement, SqlError>
  }
>()("inlet/providers/billing/Wallet") {
  static readonly layer = Layer.effect(
    Wallet,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom

      /** Creates the wallet at its first use, once under concurrency. */
      const open = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        yield* sql`
          WITH opened AS (
            INSERT INTO wallets (workspace_id, balance_cents) VALUES (${workspaceId}, ${openingCents})
            ON CONFLICT DO NOTHING
            RETURNING workspace_id
          )
          INSERT INTO wallet_entries (id, workspace_id, amount_cents, kind)
          SELECT ${yield* random.uuidV7()}, workspace_id, ${openingCents}::int, 'opening' FROM opened
        `
      })

      // One statement, so that the entries sum to the balance also during a purchase.
      const entries = SqlSchema.findAll({
        Request: Schema.String,
        Result: Schema.Struct({ ...Entry.fields, balanceCents: Schema.Int }),
        execute: (workspaceId) => sql`
          SELECT order_id, amount_cents, kind, created_at, balance_cents
          FROM wallet_entries JOIN wallets USING (workspace_id)
          WHERE workspace_id = ${workspaceId} ORDER BY id DESC
        `
      })

      const balance = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const rows = yield* sql<{ readonly balanceCents: number }>`
          SELECT balance_cents FROM wallets WHERE workspace_id = ${workspaceId}
        `
        return rows[0]?.balanceCents ?? 0
      })

      const debit = Effect.fn("Wallet.debit")(function* ({ orderId, priceCents, workspaceId }: Bill) {
        yield* open(workspaceId)
        // The row lock makes purchases at once take turns, so none sees money that another takes.
        const debited = yield* sql`
            WITH debited AS (
              UPDATE wallets SET balance_cents = balance_cents - ${priceCents}::int
              WHERE workspace_id = ${workspaceId} AND balance_cents >= ${priceCents}::int
              RETURNING workspace_id
            )
            INSERT INTO wallet_entries (id, workspace_id, order_id, amount_cents, kind)
            SELECT ${yield* random.uuidV7()}, workspace_id, ${orderId}, ${-priceCents}::int, 'debit' FROM debited
            RETURNING id
          `
        if (debited.length > 0) return
        const left = yield* balance(workspaceId)
        return yield* new Conflict({
          message: `The wallet has too little money. The domain costs ${Cents.dollars(priceCents)} and the balance is ${Cents.dollars(left)}. Order fewer years or another name: GET /api/domains/search?q=… has prices`
        })
      })

      const refund = Effect.fn("Wallet.refund")(function* ({ orderId, priceCents, workspaceId }: Bill) {
        yield* sql`
          WITH entered AS (
            INSERT INTO wallet_entries (id, workspace_id, order_id, amount_cents, kind)
            VALUES (${yield* random.uuidV7()}, ${workspaceId}, ${orderId}, ${priceCents}, 'refund')
            ON CONFLICT (order_id, kind) DO NOTHING
            RETURNING workspace_id, amount_cents
          )
          UPDATE wallets SET balance_cents = balance_cents + entered.amount_cents
          FROM entered WHERE wallets.workspace_id = entered.workspace_id
        `
      })

      const get = Effect.fn("Wallet.get")(function* (workspaceId: WorkspaceId) {
        yield* open(workspaceId)
        const found = yield* entries(workspaceId)
        return { balanceCents: found[0]?.balanceCents ?? 0, entries: found }
      }, Bugs.die)

      return Wallet.of({ debit, refund, get })
    })
  )
}
