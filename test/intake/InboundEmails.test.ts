import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { CurrentTransformer } from "effect/sql/Statement"
import * as InboundEmails from "../../src/intake/InboundEmails.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId } from "../../src/model/InboundEmail.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import { TestInlet } from "../TestInlet.ts"

const accepted = (
  inbox: { readonly domainId: string; readonly address: string },
  key: number
): InboundEmails.Accepted => {
  const domainId = DomainId.make(inbox.domainId)
  const envelope = { from: "", helo: "client.example", remoteAddress: "203.0.113.9" }
  return {
    mail: {
      id: InboundEmailId.make(SecureRandom.uuidV7Unsafe()),
      domainId,
      domain: DomainName.make(inbox.address.slice(inbox.address.indexOf("@") + 1)),
      workspaceId: null,
      sha256: new Uint8Array(32),
      traceBytes: 0,
      rules: [],
      spamAction: "tag",
      verdicts: null,
      envelope,
      recipients: [
        {
          eventId: EventId.make(SecureRandom.uuidV7Unsafe()),
          address: inbox.address,
          route: { id: catchAllOf(domainId), pattern: catchAll, action: "hold" }
        }
      ],
      readRecipients: 0,
      receivedAt: 1_770_000_000_000,
      attempt: 1,
      message: undefined,
      place: null,
      storedMs: null,
      bytes: 1
    },
    recipient: inbox.address,
    envelope,
    tls: null,
    key: new Uint8Array(32).fill(key),
    // Leased for a minute, so that nothing reads the missing bytes.
    isOurs: true
  }
}

layer(TestInlet.layer({ ROLES: "http" }), { excludeTestServices: true })("Messages that come at once", (it) => {
  it.effect("share a statement, also if some of them are the same", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      let statements = 0
      const count = <A>(statement: A) =>
        Effect.sync(() => {
          statements++
          return statement
        })
      const insert = yield* Effect.provideService(
        InboundEmails.make({ emailsPerDay: 1_000 }),
        CurrentTransformer,
        count
      )
      const keys = [1, 2, 1, 3, 1]
      const states = yield* Effect.forEach(keys, (key) => insert(accepted(inbox, key)), { concurrency: "unbounded" })
      assert.deepStrictEqual(states, ["kept", "kept", "seen", "kept", "seen"])
      assert.strictEqual(statements, 1)
      assert.strictEqual(yield* insert(accepted(inbox, 2)), "seen")
      assert.lengthOf(yield* sql`SELECT 1 FROM inbound_emails WHERE domain_id = ${inbox.domainId}`, 3)
      assert.lengthOf(
        yield* sql`SELECT 1 FROM daily_intake WHERE accepted = 3 AND workspace_id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})`,
        1
      )
    }).pipe(Effect.scoped)
  )
})
