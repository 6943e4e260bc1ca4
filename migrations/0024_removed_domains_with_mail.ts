import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Only a domain with mail waits for its erasure, or a workspace that adds and removes empty ones would delay that of
  // others. The row of the domain is locked by now, and this statement sees the mail that was committed before.
  yield* sql`
    CREATE OR REPLACE FUNCTION note_removed_domain() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM inbound_emails WHERE domain_id = OLD.id) THEN
        INSERT INTO removed_domains (domain_id) VALUES (OLD.id);
      END IF;
      RETURN OLD;
    END $$
  `
  yield* sql`CREATE INDEX removed_domains_turn ON removed_domains (turn_at)`
})
