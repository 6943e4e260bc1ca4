import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import * as McpClient from "./McpClient.ts"

/** The answer of a wait for up to 25 s, which ends long before. */
const atOnce = Effect.fnUntraced(function* (client: Effect.Success<ReturnType<typeof McpClient.one>>, tool: string) {
  const [time, { json }] = yield* Effect.timed(client.call(tool, { seconds: 25 }))
  assert.isBelow(Duration.toSeconds(time), 15, tool)
  return json
})

layer(TestInlet.layer(), { excludeTestServices: true })("A wait of an agent", (it) => {
  it.effect("at an unverified domain ends at once, and says how the key's holder gets it verified", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: "unready.example.com" } })
      const record = `Ask the owner to publish the TXT record ${json.txt_name} = ${json.txt_value}`
      const { json: reading } = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read" } })
      for (const [held, next] of [
        [key, `${record}, then POST /api/domains/${json.id}/verify`],
        [reading.api_key, `${record}, and to verify the domain`]
      ] as const) {
        const client = yield* McpClient.one(inlet.url, held)
        for (const tool of ["wait_for_code", "wait_for_mail"]) {
          const told = yield* atOnce(client, tool)
          assert.deepStrictEqual([told.timed_out, told.next], [true, next], tool)
        }
      }
    })
  )

  it.effect("at a disabled domain returns the mail that is there, then ends at once with the reason", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, text: "Your verification code is 739204." })
      yield* Mailbox.events(inbox)
      yield* sql`
        UPDATE domains SET status = 'disabled', status_before = status, disabled_reason = 'Unpaid'
        WHERE id = ${inbox.domainId}
      `
      const client = yield* McpClient.one(inlet.url, inbox.key)
      assert.strictEqual((yield* atOnce(client, "wait_for_code")).code, "739204")
      const next = yield* atOnce(client, "wait_for_code")
      assert.deepStrictEqual([next.timed_out, next.next], [true, "It takes no mail: Unpaid"])
      const { mails, ...others } = yield* atOnce(client, "wait_for_mail")
      assert.deepStrictEqual([mails.length, Object.keys(others)], [1, ["cursor"]])
    })
  )
})
