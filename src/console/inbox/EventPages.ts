import { type Signal, signal } from "@preact/signals"
import { call, isAborted, messageOf } from "../api/Api.ts"
import type { BriefEvent } from "../api/Contract.ts"
import { asked, type Filters } from "./Filters.ts"

const perPage = 100

/** Pages that are held. The others keep their place, and load again when they are scrolled to. */
const mostHeld = 12

/** Events that came while the page was open, beyond which the list is loaded anew. */
const mostLive = 500

/** Pages without a match that load by themselves, of up to 5,000 searched events each. */
const mostEmptyPages = 4

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
  #unseen: ReadonlyArray<BriefEvent> = []
  #next: string | null | undefined
  /** Counts the reloads, so that an answer of an earlier list is dropped. */
  #generation = 0

  /** Changes with each change of the list. */
  readonly version = signal(0)
  readonly error: Signal<string | undefined> = signal(undefined)
  /** The number of matching events that came and are not shown yet. */
  readonly unseenCount: Signal<number> = signal(0)
  /** True after several pages in a row without a match. More are searched on request. */
  readonly isSearching: Signal<boolean> = signal(false)

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

  /** The index of an event in the pages that are held, or -1. */
  indexOf(eventId: string): number {
    const isIt = ({ event_id }: BriefEvent) => event_id === eventId
    const live = this.#live.findIndex(isIt)
    if (live >= 0) return live
    let before = this.#live.length
    for (const { count, events } of this.#pages) {
      const at = events?.findIndex(isIt) ?? -1
      if (at >= 0) return before + at
      before += count
    }
    return -1
  }

  /** Loads the next page of older events. */
  async more(): Promise<void> {
    if (this.#next === null) return
    await this.#load(this.#pages.length)
  }

  /** Frees the pages that are far from the view, but the first one: it has no cursor, so it would load newer mail. */
  keepNear(index: number): void {
    let left = index - this.#live.length
    let near = 0
    while (near < this.#pages.length - 1 && left >= (this.#pages[near]?.count ?? 0)) {
      left -= this.#pages[near]?.count ?? 0
      near++
    }
    for (const [number, page] of this.#pages.entries()) {
      if (number > 0 && Math.abs(number - near) > mostHeld / 2) page.events = undefined
    }
  }

  /** Takes events of the stream, oldest first. They are shown at once if the top of the list is in view. */
  receive(events: ReadonlyArray<BriefEvent>, isAtTop: boolean): void {
    const fresh = events.filter(({ event_id }) => !this.#knows(event_id))
    if (fresh.length === 0) return
    // Beyond that the list is loaded anew, so that a tab in the background does not grow.
    this.#unseen = [...fresh.toReversed(), ...this.#unseen].slice(0, mostLive)
    this.unseenCount.value += fresh.length
    if (isAtTop) this.showUnseen()
  }

  /**
   * Adds the mail that came while there was no stream, and succeeds with its number on the first page. If the gap is
   * longer than a page, the list begins anew at its top, or with the next click there.
   */
  async catchUp(isAtTop: boolean): Promise<number> {
    if (!this.isLoaded) return 0
    const { events, next_cursor } = await this.#ask(undefined)
    const missed = events.filter(({ event_id }) => !this.#knows(event_id))
    const isGap = missed.length > 0 && missed.length === events.length && next_cursor !== null
    if (!isGap) this.receive(missed.toReversed(), isAtTop)
    else if (isAtTop) this.#beginWith(events, next_cursor)
    else {
      this.#unseen = []
      this.unseenCount.value += missed.length
    }
    return missed.length
  }

  showUnseen(): void {
    if (this.unseenCount.value === 0) return
    const isTooMany = this.unseenCount.value > this.#unseen.length || this.#live.length > mostLive
    this.#live = [...this.#unseen, ...this.#live]
    this.#forgetUnseen()
    if (isTooMany) void this.reload()
    else this.#changed()
  }

  /** Loads the list anew from its top. */
  async reload(): Promise<void> {
    this.#generation++
    this.#pages.length = 0
    this.#live = []
    this.#forgetUnseen()
    this.#next = undefined
    this.#loading.clear()
    await this.#load(0)
  }

  /** Replaces the first page, for filters that the stream of events does not know. Longer lists stay as they are. */
  async replaceFirst(): Promise<void> {
    if (!this.isLoaded) return
    const generation = this.#generation
    const { events, next_cursor } = await this.#ask(undefined)
    if (generation !== this.#generation || this.#pages.length > 1) return
    this.#pages[0] = { cursor: undefined, events, count: events.length }
    this.#next = next_cursor
    this.#changed()
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

  #beginWith(events: ReadonlyArray<BriefEvent>, next: string | null): void {
    this.#generation++
    this.#live = []
    this.#forgetUnseen()
    this.#pages.splice(0, this.#pages.length, { cursor: undefined, events, count: events.length })
    this.#next = next
    this.#changed()
  }

  #forgetUnseen(): void {
    this.#unseen = []
    this.unseenCount.value = 0
  }

  #knows(eventId: string): boolean {
    return (
      this.#unseen.some(({ event_id }) => event_id === eventId) ||
      this.#live.some(({ event_id }) => event_id === eventId) ||
      (this.#pages[0]?.events ?? []).some(({ event_id }) => event_id === eventId)
    )
  }

  #ask(cursor: string | undefined) {
    return call("GET /api/domains/{id}/events", {
      path: [this.#domainId],
      query: { ...asked(this.#filters), view: "brief", limit: perPage, cursor },
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

  async #fetch(number: number, emptyPages = 0): Promise<void> {
    const generation = this.#generation
    const known = this.#pages[number]
    const cursor = known === undefined ? (this.#next ?? undefined) : known.cursor
    try {
      const { events, next_cursor } = await this.#ask(cursor)
      if (generation !== this.#generation) return
      this.error.value = undefined
      if (known === undefined) {
        const before = new Set([...this.#live, ...this.#unseen].map(({ event_id }) => event_id))
        const added = events.filter(({ event_id }) => !before.has(event_id))
        this.#pages.push({ cursor, events: added, count: added.length })
        this.#next = next_cursor
      } else {
        // An event that expired since leaves a shorter page.
        known.events = events
        known.count = events.length
      }
    } catch (error) {
      if (isAborted(error) || generation !== this.#generation) return
      this.error.value = messageOf(error)
    }
    const isEmpty = known === undefined && this.#pages[number]?.count === 0 && this.#next != null
    this.isSearching.value = isEmpty && emptyPages + 1 >= mostEmptyPages
    this.#changed()
    // A filter that searches many events to find few answers with pages that may be empty.
    if (isEmpty && !this.isSearching.value) await this.#fetch(this.#pages.length, emptyPages + 1)
  }

  #changed(): void {
    this.version.value++
  }
}
