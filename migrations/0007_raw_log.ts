import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Where the raw message is in the log. Null: it has a file or an object of its own, as all before this migration.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN segment uuid, ADD COLUMN raw_at bigint, ADD COLUMN raw_bytes integer`

  // Raw messages whose rows went before their time: they are overwritten, and then forgotten here.
  yield* sql`
    CREATE TABLE raw_erasures (
      segment           uuid NOT NULL,
      raw_at            bigint NOT NULL,
      raw_bytes         integer NOT NULL,
      inbound_email_id  uuid NOT NULL,
      due_at            timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (segment, raw_at)
    )
  `
  // The row of the domain is locked by then, so no mail can be added to it any more, and all of its mail can still be
  // seen. It does not matter which statement removes the domain, or whether its workspace goes with it.
  yield* sql`
    CREATE FUNCTION note_raw_erasures() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO raw_erasures (segment, raw_at, raw_bytes, inbound_email_id)
      SELECT segment, raw_at, raw_bytes, id FROM inbound_emails
      WHERE domain_id = OLD.id AND segment IS NOT NULL
      ON CONFLICT DO NOTHING;
      RETURN OLD;
    END $$
  `
  yield* sql`
    CREATE TRIGGER note_raw_erasures BEFORE DELETE ON domains
    FOR EACH ROW EXECUTE FUNCTION note_raw_erasures()
  `
})
