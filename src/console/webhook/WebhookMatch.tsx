import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"

type Match = Awaited<ReturnType<typeof ask>>

const ask = (domain: Domain, typed: string) => {
  const text = typed.trim()
  return call("GET /api/domains/{id}/webhooks/match", {
    path: [domain.id],
    query: { recipient: text.includes("@") ? text : `${text}@${domain.domain}` }
  })
}

/** Asks which webhook takes an address, and why the others do not. */
export const WebhookMatch = ({ domain }: { readonly domain: Domain }) => {
  const { error, isRunning, run } = useAction()
  const localPart = useSignal("")
  const found = useSignal<Match | undefined>(undefined)
  const match = () =>
    run(async () => {
      found.value = await ask(domain, localPart.value)
      announce(`${found.value.webhook.pattern} takes ${found.value.recipient}`)
    })
  const { value } = found
  return (
    <>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          void match()
        }}
      >
        <label>
          <span class="visually-hidden">The part of an address before the @</span>
          <input
            type="text"
            required
            placeholder={`an address before @${domain.domain}`}
            value={localPart.value}
            onInput={({ currentTarget }) => {
              localPart.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" disabled={isRunning.value}>
          Which takes it?
        </button>
      </form>
      <Problem message={error.value} />
      {value !== undefined && (
        <div class="match">
          <p>
            <code>{value.webhook.pattern}</code> takes <code>{value.recipient}</code>
          </p>
          {value.others.length > 0 && (
            <ul class="note">
              {value.others.map(({ reason, webhook_id }) => (
                <li key={webhook_id}>{reason}</li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  )
}
