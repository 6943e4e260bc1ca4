import { type Signal, signal } from "@preact/signals"
import { call, isAborted, messageOf } from "../api/Api.ts"
import type { BriefEvent } from "../api/Contract.ts"
import type { Filters } from "./Filters.ts"

const perPage = 100

/** Pages that are held. The others keep their place, and load again when they are scrolled to. */
const mostHeld = 12

/** Events that came while the page was open, beyond which the list is loaded anew. */
const mostLive = 500

interface ListPage {
  /** The cursor that loads it. Undefined for the first page. */
  readonly cursor: string | undefined
  /** Undefined while the page is not held. */
  events: ReadonlyArray<BriefEvent> | undefined
  count: number
}

/**
 * The events of a domain that match filters, newest first, as a list that may be long: pages load as they are needed,
 * and only those near the view are held.
 */
export class EventPages {
  readonly #domainId: string
  readonly #filters: Filters
  readonly #pages: Array<ListPage> = []
  readonly #loading = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  #live: ReadonlyArray<BriefEvent> = []
  #next: string | null | undefined

  /** Changes with each change of the list. */
  readonly version = signal(0)
  readonly error: Signal<string | undefined> = signal(undefined)
  /** Matching events that came and are not shown yet. */
  readonly unseen: Signal<ReadonlyArray<BriefEvent>> = signal([])

  constructor(domainId: string, filters: Filters) {
    this.#domainId = domainId
    this.#filters = filters
  }

  /** Events that are known, loaded or not. */
  get length(): number {
    return this.#live.length + this.#pages.reduce((sum, { count }) => sum + count, 0)
  }

  get isLoaded(): boolean {
    return this.#next !== undefined
  }

  /** True if older events may follow. */
  get hasMore(): boolean {
    return this.#next !== null
  }

  /** The event at an index. Undefined while its page loads. */
  at(index: number): BriefEvent | undefined {
    if (index < this.#live.length) return this.#live[index]
    let left = index - this.#live.length
    for (const [number, page] of this.#pages.entries()) {
      if (left < page.count) {
        if (page.events === undefined) void this.#load(number)
        return page.events?.[left]
      }
      left -= page.count
    }
    return undefined
  }

  indexOf(eventId: string): number {
    let before = 0
    for (const events of [this.#live, ...this.#pages.map(({ events }) => events)]) {
      const at = events?.findIndex(({ event_id }) => event_id === eventId) ?? -1
      if (at >= 0) return before + at
      before += events === this.#live ? this.#live.length : (events?.length ?? perPage)
    }
    return -1
  }

  /** Loads the next page of older events. */
  async more(): Promise<void> {
    if (this.#next === null) return
    await this.#load(this.#pages.length)
  }

  /** Frees the pages that are far from the view. */
  keepNear(index: number): void {
    let left = index - this.#live.length
    let near = 0
    while (near < this.#pages.length - 1 && left >= (this.#pages[near]?.count ?? 0)) {
      left -= this.#pages[near]?.count ?? 0
      near++
    }
    for (const [number, page] of this.#pages.entries()) {
      if (Math.abs(number - near) > mostHeld / 2) page.events = undefined
    }
  }

  /** Takes an event of the stream. It is shown at once if the top of the list is in view. */
  receive(event: BriefEvent, isAtTop: boolean): void {
    if (this.#knows(event.event_id)) return
    this.unseen.value = [event, ...this.unseen.value]
    if (isAtTop) this.showUnseen()
  }

  /** Takes what came while the stream was broken. Loads the list anew if that is more than a page. */
  async catchUp(isAtTop: boolean): Promise<void> {
    const { events } = await this.#ask(undefined)
    const missed = events.filter(({ event_id }) => !this.#knows(event_id))
    if (missed.length === perPage) return this.reload()
    for (const event of missed.toReversed()) this.receive(event, isAtTop)
  }

  showUnseen(): void {
    if (this.unseen.value.length === 0) return
    this.#live = [...this.unseen.value, ...this.#live]
    this.unseen.value = []
    if (this.#live.length > mostLive) void this.reload()
    else this.#changed()
  }

  /** Loads the list anew from its top. */
  async reload(): Promise<void> {
    this.#pages.length = 0
    this.#live = []
    this.unseen.value = []
    this.#next = undefined
    this.#loading.clear()
    await this.#load(0)
  }

  /** Asks again for the first events, whose deliveries may have changed. */
  async refresh(): Promise<void> {
    const { events } = await this.#ask(undefined)
    const now = new Map(events.map((event) => [event.event_id, event]))
    const fresh = (event: BriefEvent) => now.get(event.event_id) ?? event
    this.#live = this.#live.map(fresh)
    for (const page of this.#pages) page.events = page.events?.map(fresh)
    this.#changed()
  }

  /** True if one of the newest events is still on its way to the webhook. */
  get hasPending(): boolean {
    return [...this.#live, ...(this.#pages[0]?.events ?? [])].some(({ delivery }) => delivery === "pending")
  }

  close(): void {
    this.#abort.abort()
  }

  #knows(eventId: string): boolean {
    return (
      this.unseen.value.some(({ event_id }) => event_id === eventId) ||
      this.#live.some(({ event_id }) => event_id === eventId) ||
      (this.#pages[0]?.events ?? []).some(({ event_id }) => event_id === eventId)
    )
  }

  #ask(cursor: string | undefined) {
    return call("GET /api/domains/{id}/events", {
      path: [this.#domainId],
      query: { ...this.#filters, view: "brief", limit: perPage, cursor },
      signal: this.#abort.signal
    }).then((page) => ({ ...page, events: page.events as ReadonlyArray<BriefEvent> })) // `view` is `brief`.
  }

  #load(number: number): Promise<void> {
    const under = this.#loading.get(number)
    if (under !== undefined) return under
    const loading = this.#fetch(number).finally(() => this.#loading.delete(number))
    this.#loading.set(number, loading)
    return loading
  }

  async #fetch(number: number): Promise<void> {
    const known = this.#pages[number]
    const cursor = known === undefined ? (this.#next ?? undefined) : known.cursor
    try {
      const { events, next_cursor } = await this.#ask(cursor)
      this.error.value = undefined
      if (known === undefined) {
        this.#pages.push({ cursor, events, count: events.length })
        this.#next = next_cursor
      } else {
        // A list that lost events to retention keeps its place, so that nothing jumps.
        known.events = events
        known.count = events.length
      }
    } catch (error) {
      if (isAborted(error)) return
      this.error.value = messageOf(error)
    }
    this.#changed()
    // A filter that reads many events to find few answers with pages that may be empty.
    if (known === undefined && this.#pages[number]?.count === 0 && this.#next != null) await this.more()
  }

  #changed(): void {
    this.version.value++
  }
}
