import { createHmac } from "node:crypto"
import { Layer, Redacted } from "effect"
import { WebhookFormat } from "../../src/delivery/formats/WebhookFormat.ts"

/** An own format, as an operator would add it: the inbound webhook of Mandrill, which signs URL and fields. */
export const layer = Layer.succeed(WebhookFormat, {
  takes: { basicAuth: false, signingKey: true },
  final: new Set<number>(),
  recipe: (url) => ({
    needs: "text",
    make: ({ event, message }, { credentials, seconds }) => {
      const events = JSON.stringify([
        {
          event: "inbound",
          ts: seconds,
          msg: {
            raw_msg: Buffer.from(message).toString(),
            email: event.recipient,
            from_email: event.from,
            subject: event.subject,
            text: event.text,
            html: event.html ?? ""
          }
        }
      ])
      const key = credentials.signingKey === undefined ? "" : Redacted.value(credentials.signingKey)
      return {
        headers: {
          "Content-Type": "application/x-www-form-urlencoded",
          "X-Mandrill-Signature": createHmac("sha1", key).update(`${url.href}mandrill_events${events}`).digest("base64")
        },
        body: Buffer.from(new URLSearchParams({ mandrill_events: events }).toString())
      }
    }
  })
})
