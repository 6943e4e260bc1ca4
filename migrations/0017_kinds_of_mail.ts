import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The webhooks of the domain that take mail of some kinds in place of this one: {"bounce": id}.
  yield* sql`ALTER TABLE webhooks ADD COLUMN kinds jsonb NOT NULL DEFAULT '{}'`

  // NOT VALID, because a table of any size has no other value.
  yield* sql`ALTER TABLE deliveries DROP CONSTRAINT deliveries_hold_reason`
  yield* sql`
    ALTER TABLE deliveries ADD CONSTRAINT deliveries_hold_reason CHECK (
      hold_reason IN ('sender_not_allowed', 'sender_blocked', 'mail_loop', 'spam', 'virus')
    ) NOT VALID
  `
})
