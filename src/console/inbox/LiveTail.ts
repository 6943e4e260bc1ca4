import { type Signal, signal } from "@preact/signals"
import { urlOf } from "../api/Api.ts"
import type { BriefEvent } from "../api/Contract.ts"
import { type Filters, isLive } from "./Filters.ts"

export type TailState = "connecting" | "live" | "lost" | "ended"

/**
 * Follows the new events of a domain. The browser reconnects by itself after its last event. `missed` runs after each
 * gap, because events that came before the first one of a stream have no id to resume from.
 */
export const follow = (
  domainId: string,
  filters: Filters,
  { missed, received }: { readonly received: (event: BriefEvent) => void; readonly missed: () => void }
): { readonly state: Signal<TailState>; readonly close: () => void } => {
  const state = signal<TailState>("connecting")
  const { delivery: _, since: __, until: ___, ...streamed } = filters
  const url = urlOf("/api/domains/{id}/events/stream", {
    path: [domainId],
    query: { ...(isLive(filters) ? streamed : {}), view: "brief" }
  })
  let retry: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | undefined
  let wasOpen = false

  const open = () => {
    source = new EventSource(url)
    source.addEventListener("open", () => {
      state.value = "live"
      if (wasOpen) missed()
      wasOpen = true
    })
    source.addEventListener("inbound.email.received", ({ data }) => received(JSON.parse(data)))
    source.addEventListener("end", () => {
      state.value = "ended"
      source?.close()
    })
    source.addEventListener("error", () => {
      state.value = "lost"
      // After a refusal the browser does not reconnect.
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, 5_000)
    })
  }
  open()

  return {
    state,
    close: () => {
      clearTimeout(retry)
      source?.close()
    }
  }
}
