import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import { call, urlOf } from "../api/Api.ts"
import type { ListedEvent } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import * as Looks from "../api/Looks.ts"
import { CopyBlock } from "../frame/Copy.tsx"
import { Problem } from "../frame/Dialog.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { type Tab, Tabs } from "../frame/Tabs.tsx"
import { DeliveryTag } from "../frame/Tag.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { MailFacts } from "./MailFacts.tsx"
import { MailText } from "./MailText.tsx"

type TabId = "message" | "html" | "deliveries" | "headers" | "json"

const isTab = (text: string | undefined): text is TabId =>
  ["message", "html", "deliveries", "headers", "json"].includes(text ?? "")

/** Shows one mail with its text, sender, deliveries, headers and JSON. */
export const Mail = ({
  back,
  domainId,
  eventId
}: {
  readonly domainId: string
  readonly eventId: string
  /** The address of the list. */
  readonly back: string
}) => {
  const { query } = useRoute()
  const { path, route } = useLocation()
  const loaded = useLoaded(`${domainId} ${eventId}`, (signal) =>
    call("GET /api/domains/{id}/events/{eventId}", { path: [domainId, eventId], signal })
  )
  const tab: TabId = isTab(query.tab) ? query.tab : "message"
  const select = (id: TabId) => {
    const search = new URLSearchParams({ ...query, tab: id })
    if (id === "message") search.delete("tab")
    route(`${path}${search.size === 0 ? "" : `?${search}`}`, true)
  }

  const event = loaded.value.value
  useEffect(() => {
    if (event !== undefined) document.title = `${event.subject || "(no subject)"} · Inlet`
  }, [event])

  useEffect(() => Looks.whileDue(() => loaded.value.value?.delivery.status === "pending", loaded.reload), [eventId])

  const tabs: ReadonlyArray<Tab<TabId>> = [
    { id: "message", name: "Message" },
    { id: "html", name: event?.html === null ? "No HTML" : "HTML", isDisabled: event?.html === null },
    { id: "deliveries", name: "Deliveries" },
    { id: "headers", name: "Headers" },
    { id: "json", name: "JSON" }
  ]
  return (
    <article id="mail" class="mail" tabIndex={-1} aria-label="Mail">
      <p class="back">
        <a href={back}>← Inbox</a>
      </p>
      <Problem message={loaded.error.value} retry={retryFailed} />
      {event === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {event !== undefined && (
        <>
          <header class="mail-head">
            <h1 dir="auto">{event.subject || "(no subject)"}</h1>
            <p class="mail-people">
              <bdi>{event.fromName ? `${event.fromName} <${event.from}>` : event.from || "(no sender)"}</bdi>
              <span class="soft"> to </span>
              <bdi>{event.recipient}</bdi>
            </p>
            <DeliveryTag status={event.delivery.status} />
          </header>
          <Tabs label="Views of this mail" tabs={tabs} selected={tab} onSelect={select}>
            {tab === "message" && (
              <>
                <MailFacts domainId={domainId} event={event} />
                <MailText domainId={domainId} event={event} />
              </>
            )}
            {tab === "html" && event.html !== null && <HtmlPart domainId={domainId} event={event} />}
            {tab === "deliveries" && <Deliveries domainId={domainId} event={event} onChange={loaded.reload} />}
            {tab === "headers" && <Headers event={event} />}
            {tab === "json" && <Json event={event} />}
          </Tabs>
        </>
      )}
    </article>
  )
}

/** The HTML part in a frame without scripts, links and remote content. */
const HtmlPart = ({ domainId, event }: { readonly domainId: string; readonly event: ListedEvent }) => (
  <>
    <p class="note">Shown without scripts, links and remote images. A dashed box stands for an image.</p>
    <iframe
      class="html-part"
      title="HTML part of the mail"
      sandbox=""
      src={urlOf("/api/domains/{id}/events/{eventId}/html", { path: [domainId, event.event_id] })}
    />
  </>
)

const Headers = ({ event }: { readonly event: ListedEvent }) => (
  <dl class="facts headers">
    {event.headers.map(({ name, value }, index) => (
      <div key={index}>
        <dt>{name}</dt>
        <dd dir="auto">{value}</dd>
      </div>
    ))}
  </dl>
)

/** The event as the webhook gets it, indented. */
const Json = ({ event: { delivery: _, ...payload } }: { readonly event: ListedEvent }) => {
  const text = useSignal(JSON.stringify(payload, null, 2))
  return (
    <>
      <p class="note">The body of the webhook request, indented here. On the wire it is one line.</p>
      <CopyBlock text={text.value} what="event" />
    </>
  )
}
