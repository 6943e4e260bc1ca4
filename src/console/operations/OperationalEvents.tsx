import { useSignal } from "@preact/signals"
import { call } from "../api/Api.ts"
import type { LedgerEntry } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { isReadOnly } from "../api/Session.ts"
import { useAction } from "../frame/Action.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { Message } from "../frame/Message.tsx"
import { useOlder } from "../frame/Older.tsx"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { DeliveryTag, Tag, type Tone } from "../frame/Tag.tsx"
import { Time } from "../frame/Time.tsx"

const tones: Readonly<Record<LedgerEntry["event"]["type"], Tone>> = {
  "webhook.paused": "bad",
  "webhook.resumed": "good",
  "delivery.dead": "bad",
  "mail.expired": "bad",
  "quota.reached": "wait",
  "domain.mx_lost": "bad",
  "domain.mx_returned": "good",
  "domain.verified": "good",
  "domain.purchased": "good",
  "certificate.expiring": "wait"
}

const words = (type: string) => type.replaceAll(/[._]/g, " ").replace("mx", "MX")

const ask = ({ cursor, signal }: { readonly cursor?: string; readonly signal?: AbortSignal }) =>
  call("GET /api/operational-events", { query: { limit: 50, cursor }, ...(signal === undefined ? {} : { signal }) })

/** Lists the operational events of the workspace, and sets the URL that gets them. */
export const OperationalEvents = () => {
  const loaded = useLoaded("operational events", (signal) => ask({ signal }))
  const workspace = useLoaded("workspace", (signal) => call("GET /api/workspace", { signal }))
  const page = loaded.value.value
  const known = workspace.value.value
  return (
    <Page title="Operational events">
      <Problem message={loaded.error.value ?? workspace.error.value} retry={retryFailed} />
      {known !== undefined && <Target url={known.opsWebhookUrl} reload={workspace.reload} />}
      {page === undefined && loaded.error.value === undefined && <Skeleton lines={6} />}
      {page !== undefined && <List page={page} />}
    </Page>
  )
}

const Target = ({ reload, url }: { readonly url: string | null; readonly reload: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  const typed = useSignal(url ?? "")
  const set = (opsWebhookUrl: string | null) =>
    run(async () => {
      await call("PATCH /api/workspace", { body: { opsWebhookUrl } })
      announce(opsWebhookUrl === null ? "Webhook removed" : "Webhook set")
      typed.value = opsWebhookUrl ?? ""
      await reload()
    })
  return (
    <section class="card">
      <h2>Webhook for operational events</h2>
      <p class="note">
        Paused webhooks, dead letters, expired mail, full quotas and lost MX records. Use a URL that does not depend on
        the app that receives your mail.
      </p>
      {isReadOnly.value ? (
        <p>{url === null ? "None is set." : <code class="url">{url}</code>}</p>
      ) : (
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault()
            void set(typed.value.trim())
          }}
        >
          <label>
            <span class="visually-hidden">URL that gets operational events</span>
            <input
              type="url"
              required
              placeholder="https://ops.example.com/inlet"
              value={typed.value}
              onInput={({ currentTarget }) => {
                typed.value = currentTarget.value
              }}
            />
          </label>
          <button type="submit" class="primary" disabled={isRunning.value || typed.value.trim() === url}>
            {url === null ? "Set webhook" : "Change"}
          </button>
          {url !== null && (
            <button type="button" disabled={isRunning.value} onClick={() => void set(null)}>
              Remove
            </button>
          )}
        </form>
      )}
      <Problem message={error.value} />
    </section>
  )
}

type Entries = Awaited<ReturnType<typeof ask>>

const entriesOf = ({ next_cursor, operational_events }: Entries) => ({
  entries: operational_events,
  cursor: next_cursor
})

const List = ({ page }: { readonly page: Entries }) => {
  const { all, button } = useOlder(page, entriesOf, (cursor) => ask({ cursor }))
  if (all.value.length === 0)
    return <p class="empty">Nothing has happened. Events appear here with or without a webhook.</p>
  return (
    <>
      <ol class="refusals" aria-label="Operational events">
        {all.value.map(({ delivery, event }) => (
          <li class="card" key={event.event_id}>
            <p>
              <Tag tone={tones[event.type]}>{words(event.type)}</Tag> {"domain" in event && <b>{event.domain} </b>}
              <Time at={event.occurred_at} />
            </p>
            <p>
              <Message text={event.message} />
            </p>
            {delivery !== null && (
              <p class="soft">
                Request of the webhook: <DeliveryTag status={delivery.status} />
                {delivery.last_error !== null && ` ${delivery.last_error}`}
              </p>
            )}
          </li>
        ))}
      </ol>
      {button("Show more")}
    </>
  )
}
