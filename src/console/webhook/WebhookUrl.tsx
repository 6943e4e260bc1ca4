import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Domain } from "../api/Contract.ts"
import { refreshDomains } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Confirm, Problem } from "../frame/Dialog.tsx"
import { MadeKey, TargetFields } from "./TargetFields.tsx"

/** What a change of URL or format forgets, because the API never shows it. */
const forgotten = ({ webhookBasicAuth, webhookFormat }: Domain, url: string): ReadonlyArray<string> => [
  ...(webhookBasicAuth && !URL.parse(url)?.username ? ["its user name and password"] : []),
  ...(webhookFormat === "raw" ? ["the options of its requests"] : [])
]

/** Sets or removes the URL that gets the mail, and the format of its requests. */
export const WebhookUrl = ({
  domain,
  onChange
}: {
  readonly domain: Domain
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const url = useSignal(domain.webhookUrl ?? "")
  const chosen = useSignal(domain.webhookFormat)
  const signingKey = useSignal<string | undefined>(undefined)
  const isAsking = useSignal(false)
  const isSame = url.value.trim() === domain.webhookUrl && chosen.value === domain.webhookFormat
  const lost = forgotten(domain, url.value.trim()).join(" and ")
  const set = async (webhookUrl: string | null) => {
    const format = webhookUrl === null || chosen.value === domain.webhookFormat ? {} : { format: chosen.value }
    const now = await call("PATCH /api/domains/{id}/delivery", { path: [domain.id], body: { webhookUrl, ...format } })
    announce(webhookUrl === null ? "Webhook removed" : "Webhook set")
    // Without a password that was typed.
    url.value = now.webhookUrl ?? ""
    chosen.value = now.format
    signingKey.value = now.signingKey
    await Promise.all([onChange(), refreshDomains()])
  }
  const change = () =>
    run(async () => {
      await set(url.value.trim())
      isAsking.value = false
    })
  return (
    <section class="card">
      <h2>URL of the catch-all</h2>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          if (lost !== "") isAsking.value = true
          else void change()
        }}
      >
        <TargetFields url={url} format={chosen} current={domain.webhookFormat} isInline />
        <button type="submit" class="primary" disabled={isRunning.value || isSame}>
          {domain.webhookUrl === null ? "Set webhook" : "Change"}
        </button>
        {domain.webhookUrl !== null && (
          <ConfirmedButton label="Remove" title="Remove the webhook?" verb="Remove" work={() => set(null)}>
            Inlet holds new mail of {domain.domain} until you set a webhook again and deliver it.
          </ConfirmedButton>
        )}
      </form>
      {domain.webhookBasicAuth && <p class="note">Requests have a user name and a password.</p>}
      <MadeKey signingKey={signingKey.value} />
      {isAsking.value ? (
        <Confirm
          title="Change the webhook?"
          verb="Change"
          isRunning={isRunning.value}
          error={error.value}
          onConfirm={() => void change()}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>
            Inlet forgets {lost}. Write a login into the URL to keep one, as in
            https://user:password@app.example/inbound.
          </p>
        </Confirm>
      ) : (
        <Problem message={error.value} />
      )}
    </section>
  )
}
