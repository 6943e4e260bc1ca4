import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { CopyLine } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { MadeKey, TargetFields } from "./TargetFields.tsx"

const actions = [
  ["webhook", "Post to a URL"],
  ["pull", "Keep for clients to lease"],
  ["hold", "Hold"],
  ["reject", "Reject with 550"]
] as const

/** The form for a webhook of some addresses. */
export const NewWebhook = ({
  domain,
  onChange
}: {
  readonly domain: Domain
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const pattern = useSignal("")
  const action = useSignal<(typeof actions)[number][0]>("webhook")
  const url = useSignal("")
  const format = useSignal("inlet")
  const hasOwnSecret = useSignal(false)
  const secret = useSignal<string | undefined>(undefined)
  const signingKey = useSignal<string | undefined>(undefined)
  const create = () =>
    run(async () => {
      const created = await call("POST /api/domains/{id}/webhooks", {
        path: [domain.id],
        body: {
          pattern: pattern.value.trim(),
          action: action.value,
          ...(action.value === "webhook" ? { webhookUrl: url.value.trim(), format: format.value } : {}),
          ...(hasOwnSecret.value ? { secret: "own" as const } : {})
        }
      })
      announce(`Webhook ${created.webhook.pattern} added`)
      secret.value = created.webhook_signing_secret
      signingKey.value = created.signingKey
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
        {action.value === "webhook" && <TargetFields url={url} format={format} current="inlet" />}
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
      <MadeKey signingKey={signingKey.value} />
    </details>
  )
}
