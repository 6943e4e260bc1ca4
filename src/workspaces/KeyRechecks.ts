import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import { isUnreachable } from "../database/Database.ts"

/** Nobody waits for an answer, so looks of a quarter of a second share a statement. */
const gather = { millis: 250, enough: 1_000 }

/**
 * Makes a function that looks whether a key, named by its hash, still works. It is for clients that wait, which share a
 * statement, because a look for each would cost a core for some thousand of them.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Batcher.make(
    Effect.fnUntraced(function* (hashes: ReadonlyArray<Uint8Array>) {
      const rows = yield* sql<{ readonly hash: Uint8Array }>`
        SELECT api_key_hash AS hash FROM workspaces WHERE api_key_hash = ANY(${hashes}::bytea[])
        UNION ALL
        SELECT hash FROM workspace_keys WHERE hash = ANY(${hashes}::bytea[])
      `
      const working = new Set(rows.map(({ hash }) => nameOf(hash)))
      return hashes.map((hash) => working.has(nameOf(hash)))
    }),
    { bytesOf: ({ byteLength }) => byteLength, isOutage: isUnreachable, gather, most: gather.enough }
  )
})

const nameOf = (hash: Uint8Array) => Buffer.from(hash).toString("latin1")
