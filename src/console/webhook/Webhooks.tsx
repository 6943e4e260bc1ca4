import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { NewWebhook } from "./NewWebhook.tsx"
import { WebhookMatch } from "./WebhookMatch.tsx"
import { WebhookRow } from "./WebhookRow.tsx"

/** What the row of the catch-all shows, which other cards of the page change. */
const catchAllOf = ({ catch_all, webhookBasicAuth, webhookFormat, webhookUrl, webhook_paused_at }: Domain) =>
  JSON.stringify([catch_all, webhookUrl, webhookFormat, webhookBasicAuth, webhook_paused_at])

/** The webhooks of a domain in the order in which they count, with a form for one more. */
export const Webhooks = ({ domain, onChange }: { readonly domain: Domain; readonly onChange: () => Promise<void> }) => {
  const list = useLoaded(
    domain.id,
    (signal) => call("GET /api/domains/{id}/webhooks", { path: [domain.id], signal }),
    catchAllOf(domain)
  )
  const reload = async () => {
    await Promise.all([list.reload(), onChange()])
  }
  const { value } = list.value
  return (
    <section class="card">
      <h2>Webhooks by address</h2>
      <p class="note">
        Inlet compares the part of the address before the @ with each pattern. The exact name comes first, then the
        pattern with the most literal characters, then the catch-all.
      </p>
      <Problem message={list.error.value} retry={retryFailed} />
      {value === undefined && list.error.value === undefined && <Skeleton lines={3} />}
      {value !== undefined && (
        <ol class="webhooks">
          {value.webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} onChange={reload} />
          ))}
        </ol>
      )}
      <WebhookMatch domain={domain} />
      {!isReadOnly.value && <NewWebhook domain={domain} onChange={reload} />}
    </section>
  )
}
