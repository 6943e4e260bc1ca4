import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What becomes of mail that the scanner calls spam or a virus.
  yield* sql`ALTER TABLE domains ADD COLUMN spam_action text NOT NULL DEFAULT 'tag'`
  yield* sql`
    ALTER TABLE domains ADD CONSTRAINT domains_spam_action CHECK (spam_action IN ('tag', 'hold')) NOT VALID
  `

  // Events of a day by the verdict of the scanner.
  yield* sql`
    ALTER TABLE domain_days
      ADD COLUMN spam integer NOT NULL DEFAULT 0,
      ADD COLUMN virus integer NOT NULL DEFAULT 0,
      ADD COLUMN unscanned integer NOT NULL DEFAULT 0
  `

  // Without a scan of the rows, as the one before.
  yield* sql`ALTER TABLE deliveries DROP CONSTRAINT deliveries_hold_reason`
  yield* sql`
    ALTER TABLE deliveries ADD CONSTRAINT deliveries_hold_reason
      CHECK (hold_reason IN ('sender_not_allowed', 'sender_blocked', 'spam', 'virus')) NOT VALID
  `
})
