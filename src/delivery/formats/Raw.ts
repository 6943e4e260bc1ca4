import { Redacted } from "effect"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import * as Multipart from "./Multipart.ts"
import type { RawOptions } from "./RawOptions.ts"
import { type DeliveredMessage, type Recipe, WebhookFormat } from "./WebhookFormat.ts"

const none: RawOptions = {}

/**
 * The raw message as `message/rfc822`, as the relay ingress of Rails' Action Mailbox takes it. Options put it into a
 * form, or add headers.
 */
export const format = WebhookFormat.of({
  takes: { basicAuth: true, signingKey: false, rawOptions: true },
  final: new Set(),
  recipe: (_, { raw }) => recipeOf(raw === undefined ? none : Redacted.value(raw))
})

const recipeOf = ({
  base64 = false,
  contentType = "message/rfc822",
  field,
  fields = {},
  headers
}: RawOptions): Recipe => {
  if (field === undefined)
    return {
      needs: "message",
      make: ({ message }) => ({ headers: { ...headers, "Content-Type": contentType }, body: message })
    }
  return {
    // Frameworks refuse a field that is not UTF-8.
    needs: base64 ? "message" : "text",
    make: ({ eventId, message }: DeliveredMessage) => {
      const bytes = NodeBuffer.view(message)
      const form = Multipart.of(eventId, [
        ...Object.entries(fields),
        [field, base64 ? bytes.toString("base64") : bytes]
      ])
      return { headers: { ...headers, "Content-Type": form.contentType }, body: form.body }
    }
  }
}
