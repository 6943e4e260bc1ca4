import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Patience from "../database/Patience.ts"
import { Asker } from "../database/Turns.ts"
import { DomainId } from "../model/Domain.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { RawStoreError } from "../providers/storage/RawStoreError.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** Limits of one statement, because others wait for the embedded database's session meanwhile. */
const fewest = 200
const most = 500
/** Target duration of one batch. */
const aimMillis = 30

/**
 * Deletes some messages of a removed domain with their events. After the last it removes what the store has of the domain
 * with `removeRaw`, and then the domain's record, so a failure is tried again. Returns the number of messages, or undefined
 * without such a domain. Alternates between domains.
 */
export const make = Effect.fnUntraced(function* (
  removeRaw: (domainId: DomainId) => Effect.Effect<void, RawStoreError>
) {
  const sql = yield* SqlClient.SqlClient

  const removed = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ domainId: DomainId }),
    execute: () => sql`SELECT domain_id FROM removed_domains ORDER BY turn_at LIMIT 1 FOR UPDATE SKIP LOCKED`
  })

  // Events, deliveries and attempts follow. The same commit lists records in the log for erasure.
  const removeSome = SqlSchema.findAll({
    Request: Schema.Struct({ domainId: DomainId, count: Schema.Int }),
    Result: Schema.Struct({ messages: Schema.Int }),
    execute: ({ count, domainId }) => sql`
      WITH gone AS (
        DELETE FROM inbound_emails WHERE id = ANY(ARRAY(
          SELECT id FROM inbound_emails WHERE domain_id = ${domainId} LIMIT ${count} FOR UPDATE
        ))
        RETURNING id, segment, raw_at, raw_bytes
      ), noted AS (
        INSERT INTO raw_erasures (segment, raw_at, raw_bytes, inbound_email_id)
        SELECT segment, raw_at, raw_bytes, id FROM gone WHERE segment IS NOT NULL
        ON CONFLICT DO NOTHING
      )
      SELECT count(*)::int AS messages FROM gone
    `
  })

  const removeRows = (count: number) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const [domain] = yield* removed()
        if (domain === undefined) return undefined
        const { domainId } = domain
        const [gone] = yield* removeSome({ domainId, count })
        yield* sql`UPDATE removed_domains SET turn_at = now() WHERE domain_id = ${domainId}`
        return { domainId, messages: gone?.messages ?? 0 }
      })
    )

  return Effect.fn("RemovedDomains.removeSome")(function* (count: number) {
    const some = yield* removeRows(count)
    if (some === undefined) return undefined
    const { domainId, messages } = some
    if (messages === count) return messages
    // Outside of the transaction, because a bucket may take a minute.
    yield* removeRaw(domainId)
    yield* sql`DELETE FROM removed_domains WHERE domain_id = ${domainId}`
    return messages
  })
})

/** Removes while the process runs, within seconds of a removal, and leaves the database to others half of the time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const raw = yield* RawStore
    const removeSome = yield* make(raw.removeDomain)
    const isDue = yield* (yield* DueWork).watch(sql`SELECT true FROM removed_domains LIMIT 1`)
    let count = fewest
    const round = Effect.gen(function* () {
      if (!(yield* isDue)) return yield* Effect.sleep("1 second")
      const began = yield* Elapsed.millis
      const messages = yield* removeSome(count)
      const took = (yield* Elapsed.millis) - began
      if (messages === count) count = next(count, took)
      yield* Effect.sleep(messages === undefined ? "1 second" : took)
    })
    yield* BackgroundLoop.endless(
      "Removing the mail of a domain that is gone failed; it is tried again",
      // No client waits for more than one batch.
      Patience.forMuch(round).pipe(Effect.provideService(Asker, "removal"))
    )
  })
)

/** Returns the size of the next batch, so that it takes about `aimMillis`. */
const next = (count: number, took: number) =>
  Math.min(most, 2 * count, Math.max(fewest, Math.floor((count * aimMillis) / Math.max(1, took))))
