import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Domains that are gone, and whose mail goes some at a time.
  yield* sql`
    CREATE TABLE removed_domains (
      domain_id  uuid PRIMARY KEY,
      -- Whose is the earliest has its turn.
      turn_at    timestamptz NOT NULL DEFAULT now()
    )
  `
  // Their mail outlives them for as long as that takes.
  yield* sql`ALTER TABLE inbound_emails DROP CONSTRAINT inbound_emails_domain_id_fkey`
  yield* sql`ALTER TABLE events DROP CONSTRAINT events_domain_id_fkey`
  // Whichever statement, of whichever version, removes the domain. Its row is locked by then, so no mail can be added
  // to it any more. Who removes the mail writes down what is to be overwritten.
  yield* sql`
    CREATE OR REPLACE FUNCTION note_raw_erasures() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO removed_domains (domain_id) VALUES (OLD.id);
      RETURN OLD;
    END $$
  `
})
