import { WebhookFormat } from "./WebhookFormat.ts"

/** The raw message as `message/rfc822`, as the relay ingress of Rails' Action Mailbox takes it. */
export const format = WebhookFormat.of({
  takes: { basicAuth: true, signingKey: false },
  final: new Set(),
  recipe: () => ({
    needs: "message",
    make: ({ message }) => ({ headers: { "Content-Type": "message/rfc822" }, body: message })
  })
})
