import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { Webhook } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { ConfirmedButton } from "../frame/ConfirmedButton.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { counted, number } from "../frame/Figures.ts"
import { Tag } from "../frame/Tag.tsx"
import { WebhookTester } from "./WebhookTester.tsx"

const State = ({ webhook: { action, failing_since, paused_at } }: { readonly webhook: Webhook }) =>
  action === "reject" ? (
    <Tag tone="bad">rejects</Tag>
  ) : action === "hold" ? (
    <Tag tone="wait">holds</Tag>
  ) : paused_at !== null ? (
    <Tag tone="bad">paused</Tag>
  ) : failing_since !== null ? (
    <Tag tone="bad">failing</Tag>
  ) : (
    <Tag tone="good">{action === "pull" ? "waits for clients" : "posts"}</Tag>
  )

/** A webhook of the list: its pattern, where its mail goes and how it does. Opened, its figures, a test, and its end. */
export const WebhookRow = ({
  onChange,
  webhook
}: {
  readonly webhook: Webhook
  readonly onChange: () => Promise<void>
}) => {
  const isOpen = useSignal(false)
  const isCatchAll = webhook.id === webhook.domain_id
  return (
    <li class={isCatchAll ? "rest" : ""}>
      <details
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open
        }}
      >
        <summary>
          <code class="pattern">{webhook.pattern}</code>
          {isCatchAll && <span class="soft">catch-all, every other address</span>}
          <State webhook={webhook} />
          {webhook.webhookUrl !== null && (
            <span class="soft target">
              to {webhook.webhookUrl}
              {webhook.format !== "inlet" && ` as ${webhook.format}`}
              {webhook.basicAuth && " with a login"}
            </span>
          )}
        </summary>
        {isOpen.value && <Opened webhook={webhook} isCatchAll={isCatchAll} onChange={onChange} />}
      </details>
    </li>
  )
}

/** What happens to new mail after a change. */
const becomes = { hold: "is held", pull: "waits for clients", reject: "is rejected" }

const figure = (value: number | undefined) => (value === undefined ? "–" : number(value))

const Opened = ({
  isCatchAll,
  onChange,
  webhook
}: {
  readonly webhook: Webhook
  readonly isCatchAll: boolean
  readonly onChange: () => Promise<void>
}) => {
  const { error, isRunning, run } = useAction()
  const health = useLoaded(webhook.id, (signal) =>
    call("GET /api/domains/{id}/webhooks/{webhookId}/health", { path: [webhook.domain_id, webhook.id], signal })
  )
  const remove = async () => {
    await call("DELETE /api/domains/{id}/webhooks/{webhookId}", { path: [webhook.domain_id, webhook.id] })
    announce(`Webhook ${webhook.pattern} removed`)
    await onChange()
  }
  const set = async (action: keyof typeof becomes) => {
    await call("PATCH /api/domains/{id}/webhooks/{webhookId}", {
      path: [webhook.domain_id, webhook.id],
      body: { action }
    })
    announce(`Mail for ${webhook.pattern} ${becomes[action]}`)
    await onChange()
  }
  const { value } = health.value
  return (
    <div class="opened">
      {webhook.description !== null && <p>{webhook.description}</p>}
      {/* Shown before its figures load, because a layout shift would move the buttons from under a click. */}
      <p class="note">
        {value === undefined ? "– attempts" : counted(value.attempts, "attempt")} in 24 h, {figure(value?.failed)}{" "}
        failed. {figure(value?.pending)} pending, {figure(value?.held)} held, {figure(value?.dead)} dead.
      </p>
      {!isReadOnly.value && (
        <>
          {webhook.webhookUrl !== null && !isCatchAll && (
            <WebhookTester
              key={`${webhook.format} ${webhook.webhookUrl}`}
              class="part"
              path={[webhook.domain_id, webhook.id]}
              url={webhook.webhookUrl}
            />
          )}
          <div class="actions">
            {webhook.action === "reject" && (
              <button type="button" disabled={isRunning.value} onClick={() => void run(() => set("hold"))}>
                Take mail again, and hold it
              </button>
            )}
            {webhook.webhookUrl === null && webhook.action !== "pull" && (
              <button type="button" disabled={isRunning.value} onClick={() => void run(() => set("pull"))}>
                Let clients lease its mail
              </button>
            )}
            {webhook.action !== "reject" && webhook.webhookUrl === null && (
              <ConfirmedButton
                label="Reject its mail"
                title={`Reject mail for ${webhook.pattern}?`}
                verb="Reject"
                work={() => set("reject")}
              >
                Inlet refuses new mail with 550, so its senders get a bounce. Mail that waits is held.
              </ConfirmedButton>
            )}
            {!isCatchAll && (
              <ConfirmedButton
                label="Remove"
                title={`Remove the webhook ${webhook.pattern}?`}
                verb="Remove"
                work={remove}
              >
                Its undelivered mail is held. New mail goes to the next pattern that takes it.
              </ConfirmedButton>
            )}
          </div>
          <Problem message={error.value} />
        </>
      )}
      <Problem message={health.error.value} retry={retryFailed} />
      {value !== undefined && value.last_error !== null && webhook.failing_since !== null && (
        <p class="note">Last error: {value.last_error}</p>
      )}
    </div>
  )
}
