import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as RecipientPattern from "../../src/database/RecipientPattern.ts"
import * as Routes from "../../src/webhooks/routes/Routes.ts"
import { database } from "../TestInlet.ts"

const patterns = ["agent-7", "agent-*", "*-bot", "*", "a*b*c", "support+*", "a%b", "a_b", "a\\b", "'", "müller", "ı*"]

const localParts = [
  ...["agent-7", "AGENT-7", "agent-7+", "agent-7+tag", "agent-77", "agent-", "xagent-7", '"agent-7"', '"agent-7+x"'],
  ...['"agent-7', '""agent-7""', '"agent-7@x"', '"x-bot@agent-7"', "-bot", "a-bot", "a-bots", "x-BOT", "abc", "aXbXc"],
  ...["acb", "support", "support+", "support+x", "a%b", "axb", "a%b+c", "a_b", "a\\b", "'", "müller", "müller+x"],
  ...[
    '"agent\\-7"',
    '"a\\gent-7+x"',
    '"\\agent-7"',
    '"agent-7\\"',
    '"agent-7\\\\"',
    '"a\\"-bot"',
    '"',
    '"\\"',
    "\\agent-7"
  ],
  ...["a\nb-bot", "İgent", "ıx", "", '""', "*", "agent-*"]
]

layer(database, { excludeTestServices: true })("The pattern of a recipient in SQL", (it) => {
  it.effect("takes the same addresses as the routes of webhooks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const addresses = localParts.map((localPart) => `${localPart}@a.example`)
      for (const pattern of patterns) {
        const rows = yield* sql<{ readonly address: string }>`
          SELECT address FROM unnest(${addresses}::text[]) AS address
          WHERE ${RecipientPattern.takes(sql, pattern, sql`address`)}
        `
        assert.deepStrictEqual(
          rows.map(({ address }) => address),
          addresses.filter((address) => Routes.takes(pattern, Routes.localPartOf(address))),
          pattern
        )
      }
    })
  )

  it.effect("takes no text without a local part", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`
        SELECT 1 FROM unnest(ARRAY['agent-7', NULL, '']::text[]) AS address
        WHERE ${RecipientPattern.takes(sql, "*", sql`address`)}
      `
      assert.lengthOf(rows, 0)
    })
  )
})
