// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type { BriefEvent, ContentQuery, EventContent, EventsAnswer, ListedEvent, ListQuery } from "./Contract.ts"
import { type CallOptions, grace, type Requests } from "./Requests.ts"

export type View = NonNullable<ListQuery["view"]>

/** Part of a list of events: whole, or brief with `view: "brief"`. */
export interface EventPage<V extends View = "full"> extends Omit<EventsAnswer, "events"> {
  readonly events: ReadonlyArray<V extends "brief" ? BriefEvent : ListedEvent>
}

/** A list, narrowed by these. */
export type EventsQuery<V extends View = View> = Omit<ListQuery, "view"> & { readonly view?: V | undefined }

/** The filter of a wait. Mail counts after `after`, or existing mail too without it. */
export type WaitQuery<V extends View = View> = Omit<EventsQuery<V>, "wait" | "cursor">

/** The longest that the service holds an answer, in seconds. */
const longestWait = 60

/** The mail of a domain: what came in, and what is in it. */
export class Events {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** A page of them, newest first. */
  list<V extends View = "full">(
    domainId: string,
    { wait, ...query }: EventsQuery<V> = {},
    options?: CallOptions
  ): Promise<EventPage<V>> {
    return this.#requests.json({ method: "GET", path: `${at(domainId)}/events`, query, wait }, options)
  }

  get(domainId: string, eventId: string, options?: CallOptions): Promise<ListedEvent> {
    return this.#requests.json({ method: "GET", path: at(domainId, eventId) }, options)
  }

  /**
   * The first events that match, now or within the timeout: the service holds the answer. An empty page when the time
   * is up; its `cursor_now` is the `after` of the next wait.
   */
  async wait<V extends View = "full">(
    domainId: string,
    query: WaitQuery<V> = {},
    options: CallOptions = {}
  ): Promise<EventPage<V>> {
    const { signal, timeout = this.#requests.timeout } = options
    const ends = performance.now() + timeout
    // However short the time is, what is there is found.
    const look = { signal, timeout: Math.max(grace, timeout) }
    let page = await this.list<V>(domainId, query, look)
    const { cursor_now } = page
    // Some filters look through a part of the events at a time.
    while (page.events.length === 0 && page.next_cursor !== null) {
      page = await this.list<V>(domainId, { ...query, cursor: page.next_cursor }, look)
    }
    let after = cursor_now
    for (;;) {
      const left = ends - performance.now()
      if (page.events.length > 0 || left <= 0) return { ...page, cursor_now: after }
      page = await this.list<V>(domainId, { ...query, after, wait: longestWait }, { signal, timeout: left })
      after = page.cursor_now
    }
  }

  /** The visible content as Markdown, in pieces. */
  content(domainId: string, eventId: string, query: ContentQuery = {}, options?: CallOptions): Promise<EventContent> {
    return this.#requests.json({ method: "GET", path: `${at(domainId, eventId)}/content`, query }, options)
  }

  /** The message as it came, as message/rfc822. */
  raw(domainId: string, eventId: string, options?: CallOptions): Promise<Uint8Array> {
    return this.#requests.bytes({ method: "GET", path: `${at(domainId, eventId)}/raw` }, options)
  }

  /** The decoded bytes of the attachment with this `index`. */
  attachment(domainId: string, eventId: string, index: number, options?: CallOptions): Promise<Uint8Array> {
    return this.#requests.bytes({ method: "GET", path: `${at(domainId, eventId)}/attachments/${index}` }, options)
  }
}

/** The path of a domain, or of one of its events. */
export const at = (domainId: string, eventId?: string) =>
  `/api/domains/${encodeURIComponent(domainId)}${eventId === undefined ? "" : `/events/${encodeURIComponent(eventId)}`}`
