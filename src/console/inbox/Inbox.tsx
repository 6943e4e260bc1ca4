import { useSignal } from "@preact/signals"
import { useCallback, useEffect, useMemo } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import type { BriefEvent } from "../api/Contract.ts"
import { useDomain } from "../api/DomainOf.ts"
import { retryFailed } from "../api/Loaded.ts"
import * as Looks from "../api/Looks.ts"
import { domains, refreshDomains } from "../api/Session.ts"
import { announce } from "../frame/Announcer.ts"
import { Problem } from "../frame/Dialog.tsx"
import { number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Mail } from "../mail/Mail.tsx"
import { EventList } from "./EventList.tsx"
import { EventPages } from "./EventPages.ts"
import { FilterBar } from "./FilterBar.tsx"
import * as Filters from "./Filters.ts"
import { FirstSteps } from "./FirstSteps.tsx"
import * as LiveTail from "./LiveTail.ts"
import { Shortcuts } from "./Shortcuts.tsx"

const tailWords: Record<LiveTail.TailState, string> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Reconnecting",
  ended: "Domain removed",
  refused: "Not live"
}

/** Least times between two draws of new mail, two requests for a list that the stream does not know, and for the domains. */
const drawMillis = 250
const replaceMillis = 5_000
const domainMillis = 30_000

/** Runs work at once and again at most once in a time, however often it is asked for. */
const atMostEvery = (millis: number, work: () => Promise<unknown>) => {
  let last = Number.NEGATIVE_INFINITY
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(
      () => {
        isWaiting = false
        last = Date.now()
        void work()
      },
      Math.max(0, last + millis - Date.now())
    )
  }
}

/** The mail of a domain as it comes, and the mail that is selected. */
export const Inbox = () => {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const domainId = params.domainId ?? ""
  const eventId = params.eventId
  const filters = Filters.of(query)
  const search = Filters.queryOf(filters)
  const { domain, error } = useDomain(domainId)
  const atTop = useSignal(true)
  const tail = useSignal<LiveTail.TailState>("connecting")

  const pages = useMemo(() => new EventPages(domainId, filters), [domainId, search])

  useEffect(() => {
    void pages.reload()
    const isPageLive = Filters.isLive(filters)
    const replace = atMostEvery(replaceMillis, () => pages.replaceFirst().catch(() => {}))
    const look = atMostEvery(domainMillis, () => refreshDomains().catch(() => {}))
    // A burst of mail draws the list a few times a second, not once a mail.
    let came: Array<BriefEvent> = []
    const flush = atMostEvery(drawMillis, async () => {
      const [last] = came.slice(-1)
      if (isPageLive) pages.receive(came, atTop.value)
      else replace()
      came = []
      if (last !== undefined) announce(`New mail from ${last.from}: ${last.subject || "(no subject)"}`)
      if (domains.value?.find(({ id }) => id === domainId)?.status !== "live") look()
    })
    const followed = LiveTail.follow(domainId, filters, {
      received: (event) => {
        came.push(event)
        flush()
      },
      missed: () => (isPageLive ? pages.catchUp(atTop.value) : pages.replaceFirst().then(() => 0))
    })
    const stop = followed.state.subscribe((now) => {
      tail.value = now
    })
    return () => {
      stop()
      followed.close()
      pages.close()
    }
  }, [pages])

  useEffect(
    () =>
      Looks.whileDue(
        () => pages.hasPending,
        () => (Filters.isLive(filters) ? pages.refresh() : pages.replaceFirst())
      ),
    [pages]
  )

  const hrefOf = useCallback((id: string) => `/console/d/${domainId}/mail/${id}${search}`, [domainId, search])
  const toList = useCallback(() => route(`/console/d/${domainId}/inbox${search}`), [domainId, search, route])
  const move = useCallback(
    (by: 1 | -1) => {
      const from = eventId === undefined ? -1 : pages.indexOf(eventId)
      const next = pages.at(Math.max(0, from + by))
      // The list stays in the history, the mails between do not.
      if (next !== undefined) route(hrefOf(next.event_id), eventId !== undefined)
    },
    [pages, eventId, hrefOf, route]
  )
  const enter = useCallback(() => document.getElementById("mail")?.focus(), [])

  void pages.version.value
  const unseen = pages.unseenCount.value
  const isEmpty = pages.isLoaded && pages.length === 0 && (!pages.hasMore || pages.isSearching.value)
  const isNew = domain !== undefined && search === "" && pages.isLoaded && pages.length < 3
  const isGuided = isNew && (isEmpty || (domain.webhookUrl === null && !domain.pull))

  useEffect(() => {
    if (unseen > 0) document.title = `(${unseen}) Inbox · Inlet`
    else if (eventId === undefined) document.title = "Inbox · Inlet"
  }, [unseen, eventId])

  if (error !== undefined) {
    return (
      <Page title="Inbox">
        <Problem message={error} retry={retryFailed} />
        <p>
          <a href="/console/domains">Show the domains of this workspace</a>
        </p>
      </Page>
    )
  }
  return (
    <div class="inbox" data-mail={eventId !== undefined} data-guided={isGuided}>
      <section class="inbox-list" aria-labelledby="inbox-title">
        <header class="inbox-head">
          {/* The mail has the heading of the page while one is open. */}
          {eventId === undefined ? <h1 id="inbox-title">Inbox</h1> : <h2 id="inbox-title">Inbox</h2>}
          <span class="state" data-state={tail.value === "live" ? "live" : "waiting"}>
            {tailWords[tail.value]}
          </span>
        </header>
        <FilterBar
          key={domainId}
          filters={filters}
          onChange={(name, value) =>
            route(`/console/d/${domainId}/inbox${Filters.queryWith(filters, name, value)}`, true)
          }
        />
        <Problem message={pages.error.value} retry={() => pages.reload()} />
        {unseen > 0 && (
          <button
            type="button"
            class="unseen"
            onClick={() => {
              pages.showUnseen()
              document.querySelector(".rows")?.scrollTo({ top: 0 })
            }}
          >
            {number(unseen)} new
          </button>
        )}
        {isEmpty && search === "" && (
          <p class="empty">
            No mail yet. It appears here as it comes. <a href={`/console/d/${domainId}/refused`}>Was it refused?</a>
          </p>
        )}
        {!pages.isLoaded && pages.error.value === undefined && <Skeleton lines={8} />}
        {pages.isSearching.value && (
          <p class="empty">
            No match among the newest mail.{" "}
            <button type="button" class="small" onClick={() => void pages.more()}>
              Search older mail
            </button>
          </p>
        )}
        {isEmpty && !pages.hasMore && search !== "" && (
          <p class="empty">
            No mail matches these filters. <a href={`/console/d/${domainId}/inbox`}>Show all mail</a>
          </p>
        )}
        {pages.length > 0 && <EventList pages={pages} selected={eventId} hrefOf={hrefOf} atTop={atTop} />}
      </section>
      <section class="inbox-mail" aria-label="Mail">
        {eventId === undefined ? (
          isGuided ? (
            <FirstSteps domain={domain} hasMail={pages.length > 0} />
          ) : (
            <p class="empty">{pages.length > 0 ? "Select a mail. j and k move, ? shows all keys." : ""}</p>
          )
        ) : (
          <Mail key={eventId} domainId={domainId} eventId={eventId} back={`/console/d/${domainId}/inbox${search}`} />
        )}
      </section>
      <Shortcuts onMove={move} onEnter={enter} onLeave={toList} />
    </div>
  )
}
