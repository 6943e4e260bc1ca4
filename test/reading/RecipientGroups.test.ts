import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"

const mebibytes = 1_024 * 1_024

layer(TestInlet.layer({ SENDER_CHECKS: "false" }), { excludeTestServices: true })(
  "A message for many recipients",
  (it) => {
    it.effect("is one event for each, with 16 MiB of payloads in a statement", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const { domain, domainId } = yield* inlet.inbox()
        const recipients = Array.from({ length: 45 }, (_, number) => `to-${number}@${domain}`)
        yield* Mail.send(inlet.smtpPort, { to: recipients, subject: "many", html: `<p>${"é".repeat(120_000)}</p>` })
        const mails = sql<{ readonly state: string; readonly readRecipients: number }>`
          SELECT state, read_recipients FROM inbound_emails WHERE domain_id = ${domainId}
        `
        yield* eventually(mails, ([mail]) => mail?.state === "read")
        assert.deepStrictEqual(yield* mails, [{ state: "read", readRecipients: 45 }])

        // The rows of a statement have its transaction.
        const statements = yield* sql<{ readonly bytes: number; readonly recipients: ReadonlyArray<string> }>`
          SELECT sum(octet_length(payload))::int AS bytes, array_agg(recipient) AS recipients
          FROM events WHERE domain_id = ${domainId} GROUP BY xmin::text
        `
        assert.sameMembers(
          statements.flatMap((statement) => statement.recipients),
          recipients
        )
        const bytes = statements.map((statement) => statement.bytes)
        assert.isAbove(
          bytes.reduce((sum, own) => sum + own),
          16 * mebibytes
        )
        assert.isAtMost(Math.max(...bytes), 16 * mebibytes)
        const parsed = yield* sql`
          SELECT DISTINCT payload::json ->> 'parse' AS parse, length(payload::json ->> 'html') AS html,
            payload::json ->> 'inbound_email_id' AS id
          FROM events WHERE domain_id = ${domainId}
        `
        assert.lengthOf(parsed, 1)
        assert.deepInclude(parsed[0], { parse: "full", html: 120_007 })
      })
    )
  }
)
