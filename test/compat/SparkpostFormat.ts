import { Layer } from "effect"
import { WebhookFormat } from "../../src/delivery/formats/WebhookFormat.ts"

/** An own format, as an operator would add it: the relay webhook of SparkPost, which has the raw message in JSON. */
export const layer = Layer.succeed(WebhookFormat, {
  takes: { basicAuth: true, signingKey: false },
  final: new Set<number>(),
  recipe: () => ({
    needs: "text",
    make: ({ event, message }) => ({
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(
        JSON.stringify([
          {
            msys: {
              relay_message: {
                content: {
                  email_rfc822: Buffer.from(message).toString(),
                  email_rfc822_is_base64: false,
                  subject: event.subject,
                  text: event.text,
                  html: event.html ?? ""
                },
                friendly_from: event.from,
                msg_from: event.envelope.from,
                protocol: "smtp",
                rcpt_to: event.recipient
              }
            }
          }
        ])
      )
    })
  })
})
