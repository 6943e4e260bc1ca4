import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { NewWebhook } from "./NewWebhook.tsx"
import { WebhookMatch } from "./WebhookMatch.tsx"
import { WebhookRow } from "./WebhookRow.tsx"

/** The webhooks of a domain in the order in which they count, with a form for one more. */
export const Webhooks = ({ domain, onChange }: { readonly domain: Domain; readonly onChange: () => Promise<void> }) => {
  // The form below the list changes the URL of the catch-all.
  const list = useLoaded(`${domain.id} ${domain.webhookUrl}`, (signal) =>
    call("GET /api/domains/{id}/webhooks", { path: [domain.id], signal })
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
