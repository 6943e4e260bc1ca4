import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

// A retry by itself would be a newer failure of the catch-all.
const settings = { WEBHOOK_RETRY_DELAYS: "1h,1h,1h,1h,1h" }

layer(Layer.merge(TestInlet.layer(settings), WebhookReceiver.layer), { excludeTestServices: true })(
  "The health of a failing catch-all",
  (it) => {
    it.effect.each([200, 404])("has the remedy for its own failure, after another webhook answered %i", (status) =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* WebhookReceiver
        yield* receiver.answerAlways(status)
        // No server listens on this port.
        const { address, domain, domainId, key } = yield* inlet.inbox("http://127.0.0.1:9/")
        yield* inlet.call("POST", `/api/domains/${domainId}/webhooks`, {
          key,
          body: { pattern: "support", webhookUrl: receiver.url }
        })
        const attempts = sql`SELECT 1 FROM delivery_attempts WHERE domain_id = ${domainId}`
        yield* Mail.send(inlet.smtpPort, { to: address, subject: "to the catch-all" })
        yield* eventually(attempts, (rows) => rows.length === 1)
        yield* Mail.send(inlet.smtpPort, { to: `support@${domain}`, subject: "to the other webhook" })
        yield* eventually(attempts, (rows) => rows.length === 2)
        const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/health`, { key })
        const failing = json.checks.find(({ message }: { readonly message: string }) =>
          message.startsWith("Every request to the webhook at 127.0.0.1:9 has failed")
        )
        assert.match(failing.message, /connection refused/)
        assert.match(failing.remedy, /^Start the server of the webhook, or correct the port in its URL/)
      })
    )
  }
)
