import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { EventId, InboundEvent } from "../model/InboundEvent.ts"
import { plainFormat, type WebhookId } from "../model/Webhook.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import * as FailureReason from "./FailureReason.ts"
import * as BasicAuth from "./formats/BasicAuth.ts"
import * as FormatAttempt from "./formats/FormatAttempt.ts"
import * as RawOptions from "./formats/RawOptions.ts"
import { SealedCredentials } from "./formats/SealedCredentials.ts"
import type { FormatRequest } from "./formats/WebhookFormat.ts"
import { WebhookFormats } from "./formats/WebhookFormats.ts"

/** A request, and the values in it that are not to be shown. */
interface Sample extends FormatRequest {
  readonly secrets: ReadonlyArray<string>
}

/** Makes the function that writes the sample event of a test in the format of a webhook. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const formats = yield* WebhookFormats
  const credentials = yield* SealedCredentials
  const random = yield* SecureRandom.SecureRandom

  return Effect.fn("TestRequest.of")(function* (
    webhook: { readonly id: WebhookId; readonly url: string },
    sample: { readonly id: EventId; readonly payload: string },
    secrets: SigningSecrets
  ) {
    const [row] = yield* sql<{ readonly format: string; readonly credentials: Uint8Array | null }>`
      SELECT format, credentials FROM webhooks WHERE id = ${webhook.id}
    `
    const body = Buffer.from(sample.payload)
    const plain: Sample = { headers: { "Content-Type": "application/json" }, body, secrets: [] }
    if (row === undefined || row.format === plainFormat) return plain
    const format = formats.get(row.format)
    if (format === undefined)
      return yield* new FormatAttempt.Unmade({ message: FailureReason.unknownFormat(row.format) })
    const opened = yield* credentials.open(row.credentials, webhook.id)
    const stamp = yield* FormatAttempt.stamp(random, { attempt: 1, credentials: opened, secrets })
    // Written by TestEvent.
    const event = JSON.parse(sample.payload) as InboundEvent
    const mail = { eventId: sample.id, payload: body, event, message: messageOf(event), parts: [], text: event.text }
    return yield* Effect.try({
      try: (): Sample => {
        const request = format.recipe(new URL(webhook.url), opened).make(mail, stamp)
        const { raw } = opened
        return {
          ...request,
          headers: { ...request.headers, ...BasicAuth.header(opened) },
          secrets: raw === undefined ? [] : RawOptions.secrets(Redacted.value(raw))
        }
      },
      catch: () => new FormatAttempt.Unmade({ message: FailureReason.unmadeBy(row.format) })
    })
  })
})

/** The raw message of the sample. */
const messageOf = ({ envelope, headers, recipient, text }: InboundEvent): Uint8Array => {
  const own = [
    ["X-Original-To", recipient],
    ["Return-Path", `<${envelope.from}>`]
  ].concat(headers.map(({ name, value }) => [name, value]))
  return Buffer.from(
    `${own.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text.replaceAll("\n", "\r\n")}`
  )
}
