import { type Signal, signal } from "@preact/signals"
import { ApiError, call, urlOf } from "../api/Api.ts"
import type { BriefEvent } from "../api/Contract.ts"
import { asked, type Filters, isLive } from "./Filters.ts"

/** `refused`: no mail matches, because the API does not know a value of the filters. */
export type TailState = "connecting" | "live" | "lost" | "ended" | "refused"

/** Waits between tries to reconnect, in milliseconds. A browser's own waits grow to minutes. */
const waits = [1_000, 2_000, 4_000, 8_000]

/**
 * Events in a second beyond which the list is asked for every two seconds instead. Each event of a stream is loaded and
 * sent by itself, which costs the service more.
 */
const burst = 30
const burstMillis = 2_000

/** Time after which a hidden tab frees its connection. A browser has six of them to a host. */
const hiddenMillis = 5 * 60_000

/**
 * Follows the new events of a domain, and reconnects. `missed` runs after each start of the stream, because mail may have
 * come before it.
 */
export const follow = (
  domainId: string,
  filters: Filters,
  { missed, received }: { readonly received: (event: BriefEvent) => void; readonly missed: () => Promise<number> }
): { readonly state: Signal<TailState>; readonly close: () => void } => {
  const state = signal<TailState>("connecting")
  const { delivery: _, since: __, until: ___, ...streamed } = asked(filters)
  // Also mail that is held, as in the list.
  const query = { trust: "all", ...(isLive(filters) ? streamed : {}), view: "brief" }
  const url = urlOf("/api/domains/{id}/events/stream", { path: [domainId], query })
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | undefined
  let tries = 0
  let isClosed = false
  let second = 0
  let inSecond = 0

  /** True from the event on that makes a burst. */
  const isBurst = () => {
    const now = Math.floor(Date.now() / 1_000)
    if (now !== second) inSecond = 0
    second = now
    return ++inSecond > burst
  }

  /** Polls until the burst is over. */
  const poll = () => {
    source?.close()
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (isClosed) return
      missed().then((count) => (count > burst ? poll() : open()), later)
    }, burstMillis)
  }

  const later = () => {
    source?.close()
    clearTimeout(timer)
    if (isClosed || state.value === "ended" || state.value === "refused") return
    state.value = "lost"
    timer = setTimeout(() => void reopen(), waits[Math.min(tries++, waits.length - 1)])
  }

  /** An EventSource hides the status of a refusal, so a request for the same mail asks for it. */
  const reopen = async () => {
    try {
      await call("GET /api/domains/{id}/events", { path: [domainId], query: { ...query, limit: 1 } })
      open()
    } catch (error) {
      const status = error instanceof ApiError ? error.status : undefined
      // The session has ended, another tab has switched the workspace, or the domain is removed.
      if (status === 401 || status === 404 || status === 409) state.value = "ended"
      else if (status === 400) state.value = "refused"
      else later()
    }
  }

  const open = () => {
    if (isClosed) return
    // A request to reopen may overlap with another one.
    source?.close()
    source = new EventSource(url)
    source.addEventListener("open", () => {
      missed().then(() => {
        state.value = "live"
        tries = 0
      }, later)
    })
    source.addEventListener("inbound.email.received", ({ data }) => {
      received(JSON.parse(data))
      if (isBurst()) poll()
    })
    source.addEventListener("end", () => {
      state.value = "ended"
      source?.close()
    })
    source.addEventListener("error", later)
  }

  const onVisibility = () => {
    clearTimeout(timer)
    if (document.hidden) {
      timer = setTimeout(() => {
        source?.close()
        state.value = "lost"
      }, hiddenMillis)
    } else if (state.value === "lost" || (state.value === "live" && source?.readyState === EventSource.CLOSED)) {
      // The timer that was cleared may have been the one of a burst, which has closed the stream.
      void reopen()
    }
  }
  document.addEventListener("visibilitychange", onVisibility)
  open()

  return {
    state,
    close: () => {
      isClosed = true
      document.removeEventListener("visibilitychange", onVisibility)
      clearTimeout(timer)
      source?.close()
    }
  }
}
