import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"

/** Fails if the database cannot store every text: mail in other letters would be accepted, and never become an event. */
export const requireUtf8 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly encoding: string }>`SELECT current_setting('server_encoding') AS encoding`
  if (row?.encoding === "UTF8") return
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message: `It has the encoding ${row?.encoding}, which cannot store all mail. Name a database with UTF8, from CREATE DATABASE inlet ENCODING 'UTF8' TEMPLATE template0`
  })
})
