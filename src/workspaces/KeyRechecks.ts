import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import { isUnreachable } from "../database/Database.ts"

/** Checks that arrive within 250 ms share a statement. */
const gather = { millis: 250, enough: 1_000 }

/**
 * Makes a function that checks whether a key, named by its hash, still works, and counts that as a use of the key. It is
 * for held requests, some thousand of which would take a core with a statement each.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const check = Effect.fnUntraced(function* (hashes: ReadonlyArray<Uint8Array>) {
    const asked = [...new Map(hashes.map((hash) => [nameOf(hash), hash])).values()]
    const rows = yield* sql<{ readonly hash: Uint8Array; readonly isNews: boolean }>`
      SELECT api_key_hash AS hash, false AS is_news FROM workspaces WHERE api_key_hash = ANY(${asked}::bytea[])
      UNION ALL
      SELECT hash, coalesce(last_used_at < now() - interval '1 hour', true)
      FROM workspace_keys WHERE hash = ANY(${asked}::bytea[])
    `
    const used = rows.flatMap(({ hash, isNews }) => (isNews ? [hash] : []))
    if (used.length > 0) {
      yield* Effect.ignore(sql`UPDATE workspace_keys SET last_used_at = now() WHERE hash = ANY(${used}::bytea[])`)
    }
    const working = new Set(rows.map(({ hash }) => nameOf(hash)))
    return hashes.map((hash) => working.has(nameOf(hash)))
  })

  return yield* Batcher.make(check, {
    bytesOf: ({ byteLength }) => byteLength,
    isOutage: isUnreachable,
    gather,
    most: gather.enough,
    // A check that arrives during a statement does not wait for its end.
    lanes: 2
  })
})

const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString("latin1")
