import { type Signal, signal } from "@preact/signals"
import { urlOf } from "../api/Api.ts"
import type { BriefEvent } from "../api/Contract.ts"
import { type Filters, isLive } from "./Filters.ts"

export type TailState = "connecting" | "live" | "lost" | "ended"

/** Waits between tries to reconnect, in milliseconds. A browser's own waits grow to minutes. */
const waits = [1_000, 2_000, 4_000, 8_000]

/** Follows the new events of a domain, and reconnects. `missed` runs after each gap. */
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
  let tries = 0

  const open = () => {
    source = new EventSource(url)
    source.addEventListener("open", () => {
      state.value = "live"
      if (wasOpen) missed()
      wasOpen = true
      tries = 0
    })
    source.addEventListener("inbound.email.received", ({ data }) => received(JSON.parse(data)))
    source.addEventListener("end", () => {
      state.value = "ended"
      source?.close()
    })
    source.addEventListener("error", () => {
      state.value = "lost"
      source?.close()
      clearTimeout(retry)
      retry = setTimeout(open, waits[Math.min(tries++, waits.length - 1)])
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
