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

    it.effect(
      "says what it knows of the catch-all beside a webhook with more attempts and dead letters than are read",
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const sql = yield* SqlClient.SqlClient
          const { domain, domainId, key } = yield* inlet.inbox("http://127.0.0.1:9/")
          const { json } = yield* inlet.call("POST", `/api/domains/${domainId}/webhooks`, {
            key,
            body: { pattern: "support", webhookUrl: "http://127.0.0.1:9/busy" }
          })
          yield* Mail.send(inlet.smtpPort, { to: `support@${domain}`, subject: "to the busy webhook" })
          yield* eventually(
            sql`SELECT 1 FROM delivery_attempts WHERE domain_id = ${domainId}`,
            (rows) => rows.length === 1
          )
          yield* sql`UPDATE webhooks SET failing_since = NULL WHERE domain_id = ${domainId}`
          const said = Effect.map(inlet.call("GET", `/api/domains/${domainId}/health`, { key }), ({ json }) =>
            json.checks.flatMap(({ check, message }: { readonly check: string; readonly message: string }) =>
              check === "webhook" && message.includes("127.0.0.1:9") ? [message] : []
            )
          )
          assert.match((yield* said).join(), /has had no delivery yet/)
          yield* sql`
          INSERT INTO delivery_attempts (id, event_id, domain_id, webhook_id, attempt, url, requested_at, ok)
          SELECT gen_random_uuid(), events.id, ${domainId}, ${json.webhook.id}, number + 100, 'http://127.0.0.1:9/busy', now(), false
          FROM events, generate_series(1, 999) AS number WHERE events.domain_id = ${domainId}
        `
          assert.match((yield* said).join(), /had no delivery among the last 1,000 attempts of the domain/)
        })
    )
  }
)
