import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Confirm, Problem } from "../frame/Dialog.tsx"

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
  const isAsking = useSignal(false)
  const set = (webhookUrl: string | null) =>
    run(async () => {
      await call("PATCH /api/domains/{id}/delivery", { path: [domain.id], body: { webhookUrl } })
      announce(webhookUrl === null ? "Webhook removed" : "Webhook set")
      isAsking.value = false
      if (webhookUrl === null) url.value = ""
      await Promise.all([onChange(), refreshDomains()])
    })
  return (
    <section class="card">
      <h2>URL of the catch-all</h2>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void set(url.value.trim())
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
          <button
            type="button"
            onClick={() => {
              isAsking.value = true
            }}
          >
            Remove
          </button>
        )}
      </form>
      {!isAsking.value && <Problem message={error.value} />}
      {isAsking.value && (
        <Confirm
          title="Remove the webhook?"
          verb="Remove"
          isRunning={isRunning.value}
          error={error.value}
          onConfirm={() => void set(null)}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>Inlet holds new mail of {domain.domain} until you set a webhook again and deliver it.</p>
        </Confirm>
      )}
    </section>
  )
}
