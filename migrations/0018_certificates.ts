import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The certificate of a host by one certificate authority, and the order for the next one.
  yield* sql`
    CREATE TABLE certificates (
      host              text NOT NULL,
      -- The URL of the authority's directory.
      directory         text NOT NULL,
      account_key       bytea,
      -- The certificate in use, null before the first one. The key is encrypted.
      chain             text,
      key               bytea,
      not_before        timestamptz,
      not_after         timestamptz,
      renew_at          timestamptz,
      -- The order under way. A process that takes it over downloads its certificate instead of ordering another one.
      order_key         bytea,
      order_url         text,
      ordered_at        timestamptz,
      -- The last attempt, and the time from it to the next one.
      attempted_at      timestamptz,
      pause_seconds     integer NOT NULL DEFAULT 0,
      failures          integer NOT NULL DEFAULT 0,
      problem           text,
      lease             uuid,
      leased_until      timestamptz,
      PRIMARY KEY (host, directory)
    )
  `

  // What a certificate authority is answered at /.well-known/acme-challenge/.
  yield* sql`
    CREATE TABLE certificate_challenges (
      token       text PRIMARY KEY,
      answer      text NOT NULL,
      expires_at  timestamptz NOT NULL
    )
  `
})
