// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type {
  AllEventsAnswer,
  BriefEvent,
  BriefWorkspaceEvent,
  ContentQuery,
  EventContent,
  EventsAnswer,
  ListAllQuery,
  ListedEvent,
  ListQuery,
  WorkspaceEvent
} from "./Contract.ts"
import { bounded, type CallOptions, grace, type Requests } from "./Requests.ts"

export type View = NonNullable<ListQuery["view"]>

/** A page of an event list, full or with `view: "brief"`. */
export interface EventPage<V extends View = "full"> extends Omit<EventsAnswer, "events"> {
  readonly events: ReadonlyArray<V extends "brief" ? BriefEvent : ListedEvent>
}

/** The filters of a list. */
export type EventsQuery<V extends View = View> = Omit<ListQuery, "view"> & { readonly view?: V | undefined }

/** A page of the events of all domains, each with its `domain` and `domain_id`. */
export interface AllEventsPage<V extends View = "full"> extends Omit<AllEventsAnswer, "events"> {
  readonly events: ReadonlyArray<V extends "brief" ? BriefWorkspaceEvent : WorkspaceEvent>
}

/** The filters of a list over all domains. */
export type AllEventsQuery<V extends View = View> = Omit<ListAllQuery, "view"> & { readonly view?: V | undefined }

/** The filter of a wait. Mail counts after `after`, or existing mail too without it. */
export type WaitQuery<V extends View = View> = Omit<EventsQuery<V>, "wait" | "cursor">

/** The longest wait of the service, in seconds. */
const longestWait = 60

/** The events of a domain, with their content and attachments. */
export class Events {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** A page of events, newest first. */
  list<V extends View = "full">(
    domainId: string,
    { wait, ...query }: EventsQuery<V> = {},
    options?: CallOptions
  ): Promise<EventPage<V>> {
    return this.#requests.json({ method: "GET", path: `${at(domainId)}/events`, query, wait }, options)
  }

  /** A page of the events of all domains of the workspace, newest first. */
  listAll<V extends View = "full">(query: AllEventsQuery<V> = {}, options?: CallOptions): Promise<AllEventsPage<V>> {
    return this.#requests.json({ method: "GET", path: "/api/events", query }, options)
  }

  get(domainId: string, eventId: string, options?: CallOptions): Promise<ListedEvent> {
    return this.#requests.json({ method: "GET", path: at(domainId, eventId) }, options)
  }

  /**
   * The first matching events, now or within the timeout, while the service holds the request. Returns an empty page
   * on timeout, whose `cursor_now` is the `after` of the next wait. Leaves out mail that a sender rule or the mail
   * scanner holds, unless `trust` says otherwise.
   */
  async wait<V extends View = "full">(
    domainId: string,
    asked: WaitQuery<V> = {},
    options: CallOptions = {}
  ): Promise<EventPage<V>> {
    const { signal, timeout: given = this.#requests.timeout } = options
    const timeout = bounded(given)
    // The first look is a list, which by itself has held mail, too.
    const query = { ...asked, trust: asked.trust ?? ("passed" as const) }
    const ends = performance.now() + timeout
    // Existing mail is found with any timeout.
    const look = { signal, timeout: Math.max(grace, timeout) }
    let page = await this.list<V>(domainId, query, look)
    const { cursor_now } = page
    // Some filters examine a part of the events at a time.
    while (page.events.length === 0 && page.next_cursor !== null) {
      page = await this.list<V>(domainId, { ...query, cursor: page.next_cursor }, look)
    }
    // What comes from now on is new, also in a request that is retried.
    const { newerThan: _, ...later } = query
    let after = cursor_now
    for (;;) {
      const left = ends - performance.now()
      if (page.events.length > 0 || left <= 0) return { ...page, cursor_now: after }
      page = await this.list<V>(domainId, { ...later, after, wait: longestWait }, { signal, timeout: left })
      after = page.cursor_now
    }
  }

  /** The visible content as Markdown, in slices. */
  content(domainId: string, eventId: string, query: ContentQuery = {}, options?: CallOptions): Promise<EventContent> {
    return this.#requests.json({ method: "GET", path: `${at(domainId, eventId)}/content`, query }, options)
  }

  /** The raw message, as message/rfc822. */
  raw(domainId: string, eventId: string, options?: CallOptions): Promise<Uint8Array> {
    return this.#requests.bytes({ method: "GET", path: `${at(domainId, eventId)}/raw` }, options)
  }

  /** The decoded bytes of the attachment with this `index`. */
  attachment(domainId: string, eventId: string, index: number, options?: CallOptions): Promise<Uint8Array> {
    return this.#requests.bytes({ method: "GET", path: `${at(domainId, eventId)}/attachments/${index}` }, options)
  }
}

/** The path of a domain, or of one of its events. An id that is missing would name the domain instead. */
export const at = (...ids: readonly [domainId: string] | readonly [domainId: string, eventId: string]) => {
  const [domainId, eventId] = ids
  return `/api/domains/${segment(domainId)}${ids.length === 1 ? "" : `/events/${segment(eventId)}`}`
}

/** An id as a part of a path. Programs without types may pass none, which is empty then, and refused with the request. */
export const segment = (id: unknown): string => (typeof id === "string" ? encodeURIComponent(id) : "")
