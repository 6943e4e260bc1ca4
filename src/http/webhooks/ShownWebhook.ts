import { Effect } from "effect"
import { Webhook } from "../../model/Webhook.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"

/** A webhook as shown to the caller. Read keys see only the host of its URL, because the path may contain a token. */
export const of = (webhook: Webhook) =>
  CurrentWorkspace.useSync(({ scope }) =>
    scope === "full" || webhook.webhookUrl === null
      ? webhook
      : new Webhook({ ...webhook, webhookUrl: `${new URL(webhook.webhookUrl).origin}/…` })
  )

export const all = (webhooks: ReadonlyArray<Webhook>) => Effect.forEach(webhooks, of)
