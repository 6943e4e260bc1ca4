import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Where the mail of a domain goes, by the local part of the recipient.
  yield* sql`
    CREATE TABLE webhooks (
      -- The catch-all has the id of its domain.
      id                     uuid PRIMARY KEY,
      domain_id              uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      -- A name or a glob, in lower case. '*' is the catch-all.
      pattern                text NOT NULL,
      action                 text NOT NULL CHECK (action IN ('webhook', 'pull', 'hold', 'reject')),
      url                    text,
      format                 text NOT NULL DEFAULT 'inlet',
      -- Sealed under SECRETS_KEY: what the format needs besides the URL.
      credentials            bytea,
      -- True if the credentials have a user name and a password.
      basic_auth             boolean NOT NULL DEFAULT false,
      description            text,
      -- Sealed under SECRETS_KEY. Null for a webhook that signs with the secret of its workspace.
      signing_secret           bytea,
      previous_signing_secret  bytea,
      previous_secret_until    timestamptz,
      created_at             timestamptz NOT NULL DEFAULT now(),
      paused_at              timestamptz,
      -- The first of the failures since the last success, and the next request to a paused webhook.
      failing_since          timestamptz,
      probe_at               timestamptz,
      -- Failures since then, the UTC days with a failure, and the last such day. They count only up to what a pause
      -- needs.
      failures               integer NOT NULL DEFAULT 0,
      failure_days           integer NOT NULL DEFAULT 0,
      failed_on              date,
      -- The next step of a webhook that catches up after failures, the number of deliveries that may be due at once,
      -- and the position it has reached. Null while nothing is to be caught up.
      recovering_at          timestamptz,
      recovery_step          integer NOT NULL DEFAULT 1,
      recovery_position      bigint NOT NULL DEFAULT 0,
      CONSTRAINT webhooks_pattern_once UNIQUE (domain_id, pattern),
      CHECK ((pattern = '*') = (id = domain_id)),
      CONSTRAINT webhooks_url CHECK ((action = 'webhook') = (url IS NOT NULL)),
      CHECK ((paused_at IS NULL) = (probe_at IS NULL))
    )
  `
  yield* sql`CREATE INDEX webhooks_to_probe ON webhooks (probe_at) WHERE probe_at IS NOT NULL`
  yield* sql`CREATE INDEX webhooks_to_recover ON webhooks (recovering_at) WHERE recovering_at IS NOT NULL`
  yield* sql`CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL`

  yield* sql`
    INSERT INTO webhooks (
      id, domain_id, pattern, action, url, created_at, paused_at, failing_since, probe_at, failures, failure_days,
      failed_on, recovering_at, recovery_step, recovery_position
    )
    SELECT id, id, '*',
      CASE WHEN webhook_url IS NOT NULL THEN 'webhook' WHEN pull THEN 'pull' ELSE 'hold' END,
      webhook_url, created_at, webhook_paused_at, webhook_failing_since, webhook_probe_at, webhook_failures,
      webhook_failure_days, webhook_failed_on, webhook_recovering_at, webhook_recovery_step, webhook_recovery_position
    FROM domains
  `
  // A trigger, because several statements insert domains, and none may be without its catch-all.
  yield* sql`
    CREATE FUNCTION add_catch_all() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO webhooks (id, domain_id, pattern, action) VALUES (NEW.id, NEW.id, '*', 'hold');
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER add_catch_all AFTER INSERT ON domains FOR EACH ROW EXECUTE FUNCTION add_catch_all()
  `

  // Null for the catch-all.
  yield* sql`ALTER TABLE deliveries ADD COLUMN webhook_id uuid`
  yield* sql`ALTER TABLE delivery_attempts ADD COLUMN webhook_id uuid`
  // The previous version finds its deliveries by deliveries_undelivered.
  yield* sql`DROP INDEX deliveries_due`
  yield* sql`
    CREATE INDEX deliveries_due ON deliveries (coalesce(webhook_id, domain_id), due_at) WHERE status = 'pending'
  `

  // The webhook that takes all deliveries of the job. Null for each at its own. No foreign key: the job is listed for
  // longer than the webhook may be there.
  yield* sql`ALTER TABLE replays ADD COLUMN webhook_id uuid`

  yield* sql`ALTER TABLE domain_changes ADD COLUMN webhook_id uuid`
  yield* sql`DROP TRIGGER note_domain_change ON domains`
  yield* sql`
    CREATE OR REPLACE FUNCTION note_domain_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO domain_changes (domain_id, change) VALUES (NEW.id, 'verified');
      IF NEW.origin IN ('byo', 'purchased') THEN
        INSERT INTO mx_watches (domain_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER note_domain_change AFTER UPDATE OF verified_at ON domains
    FOR EACH ROW WHEN (
      NEW.workspace_id IS NOT NULL AND OLD.verified_at IS NULL AND NEW.verified_at IS NOT NULL
    ) EXECUTE FUNCTION note_domain_change()
  `
  yield* sql`
    CREATE FUNCTION note_webhook_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.paused_at IS NOT NULL THEN
        INSERT INTO domain_changes (domain_id, webhook_id, change, failing_since, paused_at)
        VALUES (NEW.domain_id, NEW.id, 'paused', NEW.failing_since, NEW.paused_at);
      -- A webhook that is removed does not resume.
      ELSIF NEW.url IS NOT NULL THEN
        INSERT INTO domain_changes (domain_id, webhook_id, change, failing_since, paused_at)
        VALUES (NEW.domain_id, NEW.id, 'resumed', OLD.failing_since, OLD.paused_at);
      END IF;
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER note_webhook_change AFTER UPDATE OF paused_at ON webhooks
    FOR EACH ROW WHEN ((OLD.paused_at IS NULL) <> (NEW.paused_at IS NULL)) EXECUTE FUNCTION note_webhook_change()
  `

  // The columns of domains about the webhook are left to processes of the previous version, which may run beside this
  // one during an upgrade or after it. Their changes follow to the catch-all, and its target follows to them.
  yield* sql`
    CREATE FUNCTION follow_old_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE webhooks SET
        action = CASE
          WHEN NEW.webhook_url IS NOT NULL THEN 'webhook' WHEN NEW.pull THEN 'pull'
          WHEN action = 'reject' THEN 'reject' ELSE 'hold'
        END,
        url = NEW.webhook_url,
        paused_at = NEW.webhook_paused_at, probe_at = NEW.webhook_probe_at, failing_since = NEW.webhook_failing_since,
        failures = NEW.webhook_failures, failure_days = NEW.webhook_failure_days, failed_on = NEW.webhook_failed_on,
        recovering_at = NEW.webhook_recovering_at, recovery_step = NEW.webhook_recovery_step,
        recovery_position = NEW.webhook_recovery_position
      WHERE id = NEW.id;
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER follow_old_webhook AFTER UPDATE OF
      webhook_url, pull, webhook_paused_at, webhook_probe_at, webhook_failing_since, webhook_failures,
      webhook_failure_days, webhook_failed_on, webhook_recovering_at, webhook_recovery_step, webhook_recovery_position
    ON domains FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION follow_old_webhook()
  `
  yield* sql`
    CREATE FUNCTION tell_old_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE domains SET
        webhook_url = NEW.url, pull = NEW.action = 'pull', webhook_paused_at = NULL, webhook_probe_at = NULL,
        webhook_failing_since = NULL
      WHERE id = NEW.id;
      RETURN NULL;
    END $$
  `
  yield* sql`
    CREATE TRIGGER tell_old_webhook AFTER UPDATE OF url, action ON webhooks
    FOR EACH ROW WHEN (
      pg_trigger_depth() = 0 AND NEW.id = NEW.domain_id
      AND (OLD.url IS DISTINCT FROM NEW.url OR OLD.action <> NEW.action)
    ) EXECUTE FUNCTION tell_old_webhook()
  `
})
