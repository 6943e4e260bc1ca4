import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Lists by time find the positions of that time by it, and need no index of their own. Null before this migration.
  yield* sql`ALTER TABLE events ADD COLUMN read_at timestamptz`
  yield* sql`ALTER TABLE events ALTER COLUMN read_at SET DEFAULT now()`
  // Those that were not read when they came: hardly any.
  yield* sql`
    CREATE INDEX events_out_of_step ON events (domain_id, position)
    WHERE read_at IS NULL OR abs(extract(epoch FROM read_at - received_at)) > 60
  `

  // Dead letters are listed by whom they were for and from. Only they are in these indexes, so other mail pays nothing.
  yield* sql`ALTER TABLE deliveries ADD COLUMN recipient text, ADD COLUMN sender text`
  yield* sql`
    UPDATE deliveries SET recipient = lower(events.recipient), sender = lower(events.sender)
    FROM events WHERE events.id = deliveries.event_id AND deliveries.status = 'dead'
  `
  yield* sql`CREATE INDEX deliveries_dead_recipient ON deliveries (domain_id, recipient, position) WHERE status = 'dead'`
  yield* sql`CREATE INDEX deliveries_dead_sender ON deliveries (domain_id, sender, position) WHERE status = 'dead'`
  // Whichever statement, of whichever version, gives a delivery up.
  yield* sql`
    CREATE FUNCTION name_the_dead() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      SELECT lower(events.recipient), lower(events.sender) INTO NEW.recipient, NEW.sender
      FROM events WHERE events.id = NEW.event_id;
      RETURN NEW;
    END $$
  `
  yield* sql`
    CREATE TRIGGER name_the_dead BEFORE INSERT OR UPDATE OF status ON deliveries
    FOR EACH ROW WHEN (NEW.status = 'dead' AND NEW.recipient IS NULL) EXECUTE FUNCTION name_the_dead()
  `

  // A quarter of the time that pglz takes, for a tenth more space. PostgreSQL can be built without it.
  yield* sql`
    DO $$ BEGIN
      ALTER TABLE events ALTER COLUMN payload SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN NULL;
    END $$
  `

  // By its first column it finds what has expired, too.
  yield* sql`ALTER TABLE client_limits DROP CONSTRAINT client_limits_pkey, ADD PRIMARY KEY (day, action, client)`
})
