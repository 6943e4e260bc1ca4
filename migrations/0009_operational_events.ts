import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // News about the service itself: of a workspace, or for the operator alone.
  yield* sql`
    CREATE TABLE operational_events (
      -- A UUIDv7, so that the order of ids is that of time.
      id            uuid PRIMARY KEY,
      -- Null for the operator alone.
      workspace_id  uuid REFERENCES workspaces ON DELETE CASCADE,
      domain_id     uuid REFERENCES domains ON DELETE CASCADE,
      type          text NOT NULL,
      -- What happens at most once in a period: the domain, workspace or part of the service, and the type, with the
      -- threshold if it has one.
      subject       text NOT NULL,
      kind          text NOT NULL,
      -- The hour. For a quota the UTC day, and for a certificate its end.
      period        timestamptz NOT NULL,
      -- The exact text that is signed and sent, on every attempt.
      payload       text NOT NULL
    )
  `
  yield* sql`CREATE UNIQUE INDEX operational_events_once ON operational_events (subject, kind, period)`
  // The list of a workspace, alone and by type, and its number of rows today.
  yield* sql`CREATE INDEX operational_events_workspace ON operational_events (workspace_id, id)`
  yield* sql`CREATE INDEX operational_events_workspace_type ON operational_events (workspace_id, type, id)`
  // The operator's list by type.
  yield* sql`CREATE INDEX operational_events_type ON operational_events (type, id)`
  yield* sql`CREATE INDEX operational_events_domain ON operational_events (domain_id)`

  // The URL to which a workspace has its operational events sent. One request at a time goes there.
  yield* sql`
    CREATE TABLE operational_webhooks (
      workspace_id  uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      url           text NOT NULL,
      -- When its next delivery is due. Null while nothing waits.
      turn_at       timestamptz,
      -- While a process makes a request to it.
      leased_until  timestamptz,
      -- The last request failed.
      is_failing    boolean NOT NULL DEFAULT false
    )
  `
  yield* sql`CREATE INDEX operational_webhooks_turn ON operational_webhooks (is_failing, turn_at) WHERE turn_at IS NOT NULL`

  // Exists for events of workspaces that had an operational webhook at the time.
  yield* sql`
    CREATE TABLE operational_deliveries (
      event_id         uuid PRIMARY KEY REFERENCES operational_events ON DELETE CASCADE,
      workspace_id     uuid NOT NULL,
      attempts         integer NOT NULL DEFAULT 0,
      -- Null once it is delivered or dead.
      next_attempt_at  timestamptz,
      delivered_at     timestamptz,
      last_error       text
    )
  `
  yield* sql`
    CREATE INDEX operational_deliveries_due ON operational_deliveries (workspace_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL
  `

  // Changes of domains that are not in the ledger yet. A worker moves them there.
  yield* sql`
    CREATE TABLE domain_changes (
      id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      domain_id      uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      change         text NOT NULL CHECK (change IN ('paused', 'resumed', 'verified')),
      at             timestamptz NOT NULL DEFAULT now(),
      -- Of a paused or resumed webhook.
      failing_since  timestamptz,
      paused_at      timestamptz
    )
  `
  yield* sql`CREATE INDEX domain_changes_domain ON domain_changes (domain_id)`

  // Whether the MX record of a verified domain is still there. Instant inboxes need none of their own.
  yield* sql`
    CREATE TABLE mx_watches (
      domain_id   uuid PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
      next_at     timestamptz NOT NULL DEFAULT now(),
      -- unseen: never seen. missing: seen before, then missing once. lost: missing twice, and reported.
      state       text NOT NULL DEFAULT 'unseen' CHECK (state IN ('unseen', 'seen', 'missing', 'lost')),
      missing_at  timestamptz
    )
  `
  yield* sql`CREATE INDEX mx_watches_next ON mx_watches (next_at)`
  yield* sql`
    INSERT INTO mx_watches (domain_id)
    SELECT id FROM domains
    WHERE verified_at IS NOT NULL AND workspace_id IS NOT NULL AND origin IN ('byo', 'purchased')
  `
  // One row: when the next process may look, so that all of them together keep the pace.
  yield* sql`
    CREATE TABLE mx_watch_turns (
      one_row  boolean PRIMARY KEY DEFAULT true CHECK (one_row),
      next_at  timestamptz NOT NULL
    )
  `
  yield* sql`INSERT INTO mx_watch_turns (next_at) VALUES (now())`

  // A trigger, because several statements pause, resume and verify. It runs only for those rare changes, in their
  // transaction, so that no change is lost or made up.
  yield* sql`
    CREATE FUNCTION note_domain_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.verified_at IS NULL AND NEW.verified_at IS NOT NULL THEN
        INSERT INTO domain_changes (domain_id, change) VALUES (NEW.id, 'verified');
        IF NEW.origin IN ('byo', 'purchased') THEN
          INSERT INTO mx_watches (domain_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
        END IF;
      END IF;
      IF OLD.webhook_paused_at IS NULL AND NEW.webhook_paused_at IS NOT NULL THEN
        INSERT INTO domain_changes (domain_id, change, failing_since, paused_at)
        VALUES (NEW.id, 'paused', NEW.webhook_failing_since, NEW.webhook_paused_at);
      -- A webhook that is removed does not resume.
      ELSIF OLD.webhook_paused_at IS NOT NULL AND NEW.webhook_paused_at IS NULL AND NEW.webhook_url IS NOT NULL THEN
        INSERT INTO domain_changes (domain_id, change, failing_since, paused_at)
        VALUES (NEW.id, 'resumed', OLD.webhook_failing_since, OLD.webhook_paused_at);
      END IF;
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER note_domain_change AFTER UPDATE OF webhook_paused_at, verified_at ON domains
    FOR EACH ROW WHEN (
      NEW.workspace_id IS NOT NULL AND (
        (OLD.webhook_paused_at IS NULL) <> (NEW.webhook_paused_at IS NULL)
        OR (OLD.verified_at IS NULL AND NEW.verified_at IS NOT NULL)
      )
    ) EXECUTE FUNCTION note_domain_change()
  `

  // The dead letters of the day that the ledger knows about.
  yield* sql`ALTER TABLE domain_days ADD COLUMN dead_told integer NOT NULL DEFAULT 0`
  yield* sql`UPDATE domain_days SET dead_told = dead WHERE dead > 0`
  // Nearly empty: the days with news.
  yield* sql`CREATE INDEX domain_days_new_dead ON domain_days (day) WHERE dead > dead_told`
})
