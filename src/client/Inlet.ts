// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type {
  AttemptsPage,
  AttemptsQuery,
  BriefEvent,
  Domain,
  InstantInbox,
  OperationalEventsPage,
  OperationalEventsQuery,
  OperationalWebhook,
  Replay,
  Replayed,
  SimulatedMail,
  TracePage,
  TraceQuery
} from "./Contract.ts"
import { Deliveries } from "./Deliveries.ts"
import { Domains } from "./Domains.ts"
import { at, Events, segment } from "./Events.ts"
import { checkOptions, Inbox, type InboxOptions } from "./Inbox.ts"
import { ApiError } from "./InletError.ts"
import { type CallOptions, type Place, Requests } from "./Requests.ts"
import { Senders } from "./Senders.ts"
import { Webhooks } from "./Webhooks.ts"

export interface InletOptions extends Place {
  /** Timeout of a call in milliseconds, 20,000 by default. */
  readonly timeout?: number | undefined
}

/**
 * The API of a service, for one workspace. Every method fails with an `InletError`. Retries 429 and 503 after their
 * `Retry-After`, within the timeout of the call. After a 503 the request may have been done, so it does not repeat one
 * that would then have another effect.
 */
export class Inlet {
  readonly deliveries: Deliveries
  readonly domains: Domains
  readonly events: Events
  readonly senders: Senders
  readonly webhooks: Webhooks
  readonly #requests: Requests
  readonly #homes = new Map<string, Promise<Home>>()

  /** Makes no request. Throws a `TypeError` for an invalid URL or key. */
  constructor(options: InletOptions) {
    // Programs without types may give nothing.
    this.#requests = new Requests(options ?? { url: undefined, apiKey: undefined })
    this.deliveries = new Deliveries(this.#requests)
    this.domains = new Domains(this.#requests)
    this.events = new Events(this.#requests)
    this.senders = new Senders(this.#requests)
    this.webhooks = new Webhooks(this.#requests)
  }

  /** The instant inbox of the workspace, which needs no DNS. The first call creates it. */
  instantInbox(options?: CallOptions): Promise<InstantInbox> {
    return this.#requests.json({ method: "POST", path: "/api/instant-inbox" }, options)
  }

  /**
   * Simulates a mail: fields, a sample, or the bytes of a message with `recipient` and `from` as options. With `wait`
   * (seconds) the result has its brief events.
   */
  async simulate(
    domainId: string,
    mail: SimulatedMail | Uint8Array,
    options: CallOptions & Envelope = {}
  ): Promise<Simulated> {
    const { from, recipient, wait, ...rest } = options
    const answer = await this.#requests.json<Omit<Simulated, "events"> & Partial<Simulated>>(
      { method: "POST", path: `${at(domainId)}/simulate`, query: { recipient, from }, body: mail, wait, isOnce: true },
      rest
    )
    return { events: [], ...answer }
  }

  /**
   * Hands a mail from a relay over, with an ingest key. Succeeds once it is stored for all recipients, as SMTP answers
   * `250`. An `ApiError` with `smtp.code` of 500 or more is final. Retry 429 and 503 after `Retry-After`, lost answers,
   * other 5xx and the 400 for a body that broke off. After another 400, 401, 403, 404 or 422 without `smtp`, keep the
   * mail and alert the operator.
   */
  ingest(
    domainId: string,
    message: Uint8Array,
    { client, from, helo, idempotencyKey, recipients, ...options }: CallOptions & Handed
  ): Promise<{ readonly inbound_email_id: string }> {
    const query = { from, recipient: recipients, client, helo }
    const path = `${at(domainId)}/ingest`
    return this.#requests.json({ method: "POST", path, query, body: message, idempotencyKey }, options)
  }

  /** What became of mail, also of refused mail, newest first. `hint` explains an empty answer. */
  trace(query: TraceQuery = {}, options?: CallOptions): Promise<TracePage> {
    return this.#get("/api/trace", query, options)
  }

  /** The webhook requests, newest first. */
  attempts(domainId: string, query: AttemptsQuery = {}, options?: CallOptions): Promise<AttemptsPage> {
    return this.#get(`${at(domainId)}/delivery-attempts`, query, options)
  }

  /** News about the service itself, newest first: paused webhooks, dead letters, quotas, MX records, domains. */
  operationalEvents(query: OperationalEventsQuery = {}, options?: CallOptions): Promise<OperationalEventsPage> {
    return this.#get("/api/operational-events", query, options)
  }

  /** Sets the URL that operational events are posted to. Null removes it. */
  setOpsWebhook(opsWebhookUrl: string | null, options?: CallOptions): Promise<OperationalWebhook> {
    return this.#requests.json({ method: "PATCH", path: "/api/workspace", body: { opsWebhookUrl } }, options)
  }

  /** Delivers an event again, at its webhook or at another one. A delivered one requires `force`. */
  replay(
    domainId: string,
    eventId: string,
    options: CallOptions & { readonly force?: boolean; readonly webhook?: string } = {}
  ): Promise<Replayed> {
    const { force, webhook, ...rest } = options
    return this.#requests.json(
      {
        method: "POST",
        path: `${at(domainId, eventId)}/replay`,
        query: { ...(force === true ? { force } : {}), ...(webhook === undefined ? {} : { webhook }) },
        isOnce: true
      },
      rest
    )
  }

  readonly replays = {
    /** Starts a job that delivers the dead, held or delivered events of a domain again. */
    start: (domainId: string, selection: ReplaySelection, options?: CallOptions): Promise<Replay> =>
      this.#requests.json({ method: "POST", path: `${at(domainId)}/replays`, body: selection, isOnce: true }, options),
    /** The number of events that such a job would deliver. */
    count: async (domainId: string, selection: ReplaySelection, options?: CallOptions): Promise<number> => {
      const body = { ...selection, dry_run: true }
      const path = `${at(domainId)}/replays`
      const { total } = await this.#requests.json<{ readonly total: number }>({ method: "POST", path, body }, options)
      return total
    },
    /** The progress of a job. */
    get: (domainId: string, replayId: string, options?: CallOptions): Promise<Replay> =>
      this.#get(`${at(domainId)}/replays/${segment(replayId)}`, {}, options),
    /** Stops a job. What it has queued stays queued. */
    stop: (domainId: string, replayId: string, options?: CallOptions): Promise<Replay> =>
      this.#requests.json({ method: "DELETE", path: `${at(domainId)}/replays/${segment(replayId)}` }, options)
  }

  /**
   * Returns a new address at a domain of the workspace. After the first call, a random address needs no request. Only
   * mail after the first inbox of this client counts.
   */
  async inbox(options: InboxOptions = {}): Promise<Inbox> {
    checkOptions(options)
    const name = options.domain ?? ""
    const known = this.#homes.get(name)
    const home = known ?? this.#home(options.domain)
    if (known === undefined) {
      this.#homes.set(name, home)
      // After a failure the next inbox requests the domain again.
      home.catch(() => this.#homes.delete(name))
    }
    const { domain, domainId, mark } = await home
    // A chosen address may have received earlier mail, which does not count.
    const after = options.localPart === undefined ? mark : await this.#mark(domainId)
    return new Inbox(this.events, {
      ...options,
      domain,
      domainId,
      after,
      timeout: options.timeout ?? this.#requests.timeout
    })
  }

  async #home(wanted: string | undefined): Promise<Home> {
    const fitting =
      wanted === undefined
        ? (await this.domains.page({ takes_mail: "true", limit: 2 })).domains
        : await this.#domain(wanted)
    const [only, ...others] = wanted === undefined && fitting.length === 0 ? await this.#instant() : fitting
    if (only === undefined || others.length > 0) {
      const { domains, next_cursor } = await this.domains.page({ limit: mostNamed })
      const names = domains.map(({ domain, status }) => `${domain} (${status})`)
      if (next_cursor !== null) names.push("…")
      throw new TypeError(`domain: Expected one that takes mail, of ${names.length === 0 ? "none" : names.join(", ")}`)
    }
    return { domainId: only.id, domain: only.domain, mark: await this.#mark(only.id) }
  }

  /** The domain with this name or id. */
  async #domain(wanted: string) {
    const asked = wanted.includes(".")
      ? this.domains.page({ domain: wanted }).then(({ domains }) => domains)
      : this.domains.get(wanted).then((domain) => [domain])
    return asked.catch(none)
  }

  /** The instant inbox, unless the workspace has one that is disabled. */
  async #instant() {
    const { domain, domain_id } = await this.instantInbox()
    const { status } = await this.domains.get(domain_id)
    return takesMail.includes(status) ? [{ domain, id: domain_id }] : []
  }

  async #mark(domainId: string) {
    const page = await this.events.list(domainId, { limit: 1, view: "brief" })
    return page.cursor_now
  }

  #get<A>(path: string, query: object, options: CallOptions | undefined): Promise<A> {
    return this.#requests.json({ method: "GET", path, query }, options)
  }
}

/** Domains that an error names, at most. */
const mostNamed = 10

/** No domain has such a name or id. */
const none = (error: unknown): ReadonlyArray<Domain> => {
  if (error instanceof ApiError && (error.status === 400 || error.status === 404)) return []
  throw error
}

/** The states in which a domain accepts mail. */
const takesMail: ReadonlyArray<Domain["status"]> = ["mx_pending", "verified", "live"]

/** A domain for inboxes, and its mark before the first one. */
interface Home {
  readonly domainId: string
  readonly domain: string
  readonly mark: string
}

/** `recipient` and `from` of message bytes. `wait` in seconds, up to 60. */
export interface Envelope {
  readonly recipient?: string | undefined
  readonly from?: string | undefined
  readonly wait?: number | undefined
}

/** The envelope of a mail from a relay. */
export interface Handed {
  /** The envelope sender. Empty for a bounce. */
  readonly from: string
  /** At most 100, all at the domain. */
  readonly recipients: ReadonlyArray<string>
  /** Address and HELO name of the server that sent the mail to the relay. */
  readonly client?: string | undefined
  readonly helo?: string | undefined
  /** Names the message, so that it is stored once. */
  readonly idempotencyKey?: string | undefined
}

export interface Simulated {
  readonly inbound_email_id: string
  readonly events: ReadonlyArray<BriefEvent>
}

/** The events of a replay job. Times are ISO 8601. */
export interface ReplaySelection {
  readonly status: Replay["status"]
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly recipient?: string | undefined
  /** Deliver to this webhook, in place of the one of each event. */
  readonly webhook_id?: string | undefined
}
