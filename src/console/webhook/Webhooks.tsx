import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { WebhookMatch } from "./WebhookMatch.tsx"
import { WebhookRow } from "./WebhookRow.tsx"

const actions = [
  ["webhook", "Post to a URL"],
  ["pull", "Keep for clients to lease"],
  ["hold", "Hold"],
  ["reject", "Reject with 550"]
] as const

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
        Inlet compares the part of the address before the @ with each pattern. An exact name wins, then the longest
        pattern, then the catch-all.
      </p>
      <Problem message={list.error.value} />
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

const NewWebhook = ({ domain, onChange }: { readonly domain: Domain; readonly onChange: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  const pattern = useSignal("")
  const action = useSignal<(typeof actions)[number][0]>("webhook")
  const url = useSignal("")
  const hasOwnSecret = useSignal(false)
  const secret = useSignal<string | undefined>(undefined)
  const create = () =>
    run(async () => {
      const created = await call("POST /api/domains/{id}/webhooks", {
        path: [domain.id],
        body: {
          pattern: pattern.value.trim(),
          action: action.value,
          ...(action.value === "webhook" ? { webhookUrl: url.value.trim() } : {}),
          ...(hasOwnSecret.value ? { secret: "own" as const } : {})
        }
      })
      announce(`Webhook ${created.webhook.pattern} added`)
      secret.value = created.webhook_signing_secret
      pattern.value = ""
      url.value = ""
      await onChange()
    })
  return (
    <details>
      <summary>Add a webhook</summary>
      <form
        class="narrow-form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <label>
          Pattern, such as support or agent-*
          <input
            type="text"
            required
            maxLength={64}
            value={pattern.value}
            onInput={({ currentTarget }) => {
              pattern.value = currentTarget.value
            }}
          />
        </label>
        <label>
          Its mail
          <select
            value={action.value}
            onChange={({ currentTarget }) => {
              action.value = actions.find(([one]) => one === currentTarget.value)?.[0] ?? "webhook"
            }}
          >
            {actions.map(([one, words]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {action.value === "webhook" && (
          <label>
            URL
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
        )}
        {action.value !== "hold" && action.value !== "reject" && (
          <label class="check">
            <input
              type="checkbox"
              checked={hasOwnSecret.value}
              onChange={({ currentTarget }) => {
                hasOwnSecret.value = currentTarget.checked
              }}
            />{" "}
            Sign with a secret of its own
          </label>
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning.value}>
            Add
          </button>
        </div>
      </form>
      <Problem message={error.value} />
      {secret.value !== undefined && (
        <>
          <p>Save its secret now. Inlet does not show it again.</p>
          <CopyLine text={secret.value} what="signing secret" />
        </>
      )}
    </details>
  )
}
