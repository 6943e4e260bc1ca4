import { readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { verify } from "../../src/effect.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })(
  "A mail to a domain with a webhook",
  (it) => {
    it.effect("arrives as a verified event, is listed as delivered, and makes the domain live", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* inlet.inbox(receiver.url)

        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "Grüße", text: "Guten Tag" })
        const request = yield* receiver.next
        const event = yield* verify({ headers: request.headers, rawBody: request.body, secret: inbox.secret })
        assert.strictEqual(event.subject, "Grüße")
        assert.strictEqual(event.text, "Guten Tag\n")
        assert.strictEqual(event.recipient, inbox.address)

        const listed = yield* eventually(
          inlet.call("GET", `/api/domains/${inbox.domainId}/events`, { key: inbox.key }),
          ({ json }) => json.events[0]?.delivery.status === "delivered"
        )
        assert.deepStrictEqual(listed.json.events[0].event_id, event.event_id)
        const domain = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        assert.strictEqual(domain.json.status, "live")
      })
    )

    it.effect("has an attachment, HTML and an ISO-2022-JP subject in the right fields", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* inlet.inbox(receiver.url)

        const raw = readFileSync(new URL("../fixtures/iso-2022-jp.eml", import.meta.url))
        yield* Mail.send(inlet.smtpPort, { envelope: { from: "a@b.example", to: inbox.address }, raw })
        const { event } = yield* receiver.next
        assert.strictEqual(event.subject, "日本語の件名")
        assert.strictEqual(event.html, "<p>こんにちは</p>\n")
        assert.deepStrictEqual(event.attachments, [
          {
            filename: "notes.txt",
            contentType: "text/plain",
            size: 13,
            contentId: null,
            disposition: "attachment",
            index: 0
          }
        ])
      })
    )
  }
)
