import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Longer than a payment can be late: Stripe resends the events of 30 days. */
const keptDays = 90

/** Removes old orders that nobody paid, and the ids of old callbacks, up to so many of each. Succeeds with the larger number. */
export const removeSome = (sql: SqlClient.SqlClient, most: number) =>
  Effect.gen(function* () {
    const orders = yield* sql`
      DELETE FROM orders WHERE id = ANY(ARRAY(
        SELECT id FROM orders
        WHERE status = 'expired' AND payment_id IS NULL AND NOT refund_due
          AND created_at < now() - make_interval(days => ${keptDays})
        LIMIT ${most} FOR UPDATE SKIP LOCKED
      ))
      RETURNING 1 AS gone
    `
    const callbacks = yield* sql`
      DELETE FROM payment_events WHERE id = ANY(ARRAY(
        SELECT id FROM payment_events
        WHERE received_at < now() - make_interval(days => ${keptDays})
        LIMIT ${most} FOR UPDATE SKIP LOCKED
      ))
      RETURNING 1 AS gone
    `
    return Math.max(orders.length, callbacks.length)
  })
