import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"

/** Sets or removes the URL that gets the mail. */
export const WebhookUrl = ({
  domain,
  onChange
}: {
  readonly domain: Domain
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const url = useSignal(domain.webhookUrl ?? "")
  const set = async (webhookUrl: string | null) => {
    await call("PATCH /api/domains/{id}/delivery", { path: [domain.id], body: { webhookUrl } })
    announce(webhookUrl === null ? "Webhook removed" : "Webhook set")
    if (webhookUrl === null) url.value = ""
    await Promise.all([onChange(), refreshDomains()])
  }
  return (
    <section class="card">
      <h2>URL of the catch-all</h2>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void run(() => set(url.value.trim()))
        }}
      >
        <label>
          <span class="visually-hidden">Webhook URL</span>
          <input
            type="url"
            required
            placeholder="https://app.example/inbound"
            value={url.value}
            onInput={({ currentTarget }) => {
              url.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" class="primary" disabled={isRunning.value || url.value.trim() === domain.webhookUrl}>
          {domain.webhookUrl === null ? "Set webhook" : "Change"}
        </button>
        {domain.webhookUrl !== null && (
          <ConfirmedButton label="Remove" title="Remove the webhook?" verb="Remove" work={() => set(null)}>
            Inlet holds new mail of {domain.domain} until you set a webhook again and deliver it.
          </ConfirmedButton>
        )}
      </form>
      <Problem message={error.value} />
    </section>
  )
}
