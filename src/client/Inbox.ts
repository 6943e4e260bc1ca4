// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type { BriefEvent, ListedEvent, ListQuery } from "./Contract.ts"
import type { Events } from "./Events.ts"
import { type ArrivedMail, NoMail, UnwantedMail } from "./InletError.ts"
import { bounded, type CallOptions, grace, seconds } from "./Requests.ts"

export interface InboxOptions {
  /** Name or id of the domain. Default the only domain that takes mail, or the instant inbox if there is none. */
  readonly domain?: string | undefined
  /** The part before the `@`. Default a new random one. */
  readonly localPart?: string | undefined
  /** Timeout of a wait in milliseconds. By default that of the client. */
  readonly timeout?: number | (() => number) | undefined
  /** Ends every wait of the inbox. */
  readonly signal?: AbortSignal | undefined
}

/** Filters of a mail. All must match. */
export type MailFilter = Pick<ListQuery, "from" | "fromDomain" | "has" | "sender" | "subject" | "tag" | "thread">

export type MailQuestion = MailFilter & CallOptions

export type CodeQuestion = Omit<MailQuestion, "has"> & {
  /** Only codes after this position: a `cursor_now` or an `event_id`. */
  readonly after?: string | undefined
}

export type LinkKind = NonNullable<BriefEvent["extracted"]>["links"][number]["kind"]

const linkKinds: ReadonlyArray<LinkKind> = ["verify", "login", "reset", "invite", "other"]

const optionNames: ReadonlyArray<string> = ["domain", "localPart", "timeout", "signal"]

/** Throws for a wrong timeout, and for an unknown option, which in programs without types would mean another inbox. */
export const checkOptions = (options: InboxOptions): void => {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name))
  if (unknown !== undefined) throw new TypeError(`${unknown}: Expected one of ${optionNames.join(", ")}`)
  const { timeout } = options
  if (timeout !== undefined && typeof timeout !== "function") bounded(timeout)
}

/** Where a wait begins, in place of the position of the inbox. */
type Start = Pick<ListQuery, "after" | "newerThan">

/** Milliseconds for the list of what has come, after the timeout of a wait. */
const listPatience = 1_000

/** The age up to which a code that has arrived counts. */
const freshAge = "60s"

const heldHint =
  'Mail came that a sender rule, the mail scanner or the loop guard holds. events.list with { trust: "held" } lists it'

interface Place extends Omit<InboxOptions, "domain"> {
  readonly domain: string
  readonly domainId: string
  /** Only mail after this position counts. */
  readonly after: string
  readonly timeout: number | (() => number)
}

/**
 * One address. A repeated call returns the next mail. Each combination of call and filters keeps its own position, so
 * that a code and a link may be in one mail or in two, in any order.
 */
export class Inbox {
  readonly address: string
  readonly domainId: string
  readonly #events: Events
  readonly #options: Place
  /** The last mail looked at, by call and filters. */
  readonly #places = new Map<string, string>()
  /** Every mail that a call has returned. */
  readonly #answers = new Set<string>()
  /** The same with call and filters, so that concurrent calls do not return the same mail. */
  readonly #returned = new Set<string>()
  /** Every mail whose code was returned. */
  readonly #codes = new Set<string>()

  constructor(events: Events, options: Place) {
    const { localPart = "" } = options
    if (options.localPart !== undefined && !/^[^\s@<>"(),:;\\[\]]{1,64}$/.test(localPart)) {
      throw new TypeError("localPart: Expected the part of an address before the @, such as qa")
    }
    this.address = `${options.localPart ?? unguessable()}@${options.domain}`
    this.domainId = options.domainId
    this.#events = events
    this.#options = options
  }

  /**
   * Waits for the next mail with a code, and returns the code. Mail of the last 60 s counts, and mail after `after`.
   * Without `after` the inbox returns no code twice.
   */
  code({ after, ...question }: CodeQuestion = {}): Promise<string> {
    return this.#next(
      "a code",
      { ...question, has: "code" },
      ({ event_id, extracted }) => {
        const value = extracted?.code?.value
        if (value === undefined || (after === undefined && this.#codes.has(event_id))) return undefined
        this.#codes.add(event_id)
        return value
      },
      after === undefined ? { newerThan: freshAge } : { after }
    )
  }

  /** Returns the URL of the next mail with a link of this kind, or with any extracted link. */
  async link(kind?: LinkKind, question: Omit<MailQuestion, "has"> = {}): Promise<string> {
    if (kind !== undefined && !linkKinds.includes(kind)) {
      throw new TypeError(`link: Expected one of ${linkKinds.join(", ")}, or nothing for any`)
    }
    const what = kind === undefined ? "a link" : `a ${kind} link`
    return this.#next(
      what,
      { ...question, has: "link" },
      ({ extracted }) =>
        extracted?.links.find((link) => link.confidence !== "low" && (kind === undefined || link.kind === kind))?.url
    )
  }

  /** Returns the next matching mail with all fields of its event. */
  async mail(question: MailQuestion = {}): Promise<ListedEvent> {
    const { signal, timeout } = this.#callOf(question)
    const ends = performance.now() + timeout
    let giveBack = () => {}
    const eventId = await this.#next("", question, ({ event_id }, undo) => {
      giveBack = undo
      return event_id
    })
    return this.#events
      .get(this.domainId, eventId, { signal, timeout: Math.max(grace, ends - performance.now()) })
      .catch((error: unknown) => {
        giveBack()
        throw error
      })
  }

  /** Waits the given milliseconds. Fails with `UnwantedMail` if there is mail that no call has returned. */
  async none(milliseconds: number, question: Omit<MailQuestion, "timeout"> = {}): Promise<void> {
    const { signal: _, ...filter } = question
    const { signal } = this.#callOf(question)
    const ends = performance.now() + bounded(milliseconds, "milliseconds")
    let { after } = this.#options
    for (;;) {
      const { events } = await this.#wait(after, filter, { signal, timeout: Math.max(1, ends - performance.now()) })
      const arrived = events.filter(({ event_id }) => !this.#answers.has(event_id)).map(told)
      if (arrived.length > 0) {
        const message = `Mail came to ${this.address}, where no more was expected:${lines(arrived)}`
        throw new UnwantedMail(message, { address: this.address, arrived })
      }
      const last = events.at(-1)
      if (last === undefined) return
      after = last.event_id
    }
  }

  /** The first match after the last mail looked at with this call and these filters. */
  async #next<A>(
    what: string,
    question: MailQuestion,
    pick: (event: BriefEvent, undo: () => void) => A | undefined,
    start: Start = {}
  ): Promise<A> {
    const { signal: _, timeout: __, ...filter } = question
    const { signal, timeout } = this.#callOf(question)
    const ends = performance.now() + timeout
    const key = JSON.stringify([what, ...Object.entries(filter).sort()])
    let after = start.after ?? this.#places.get(key) ?? this.#options.after
    let { newerThan } = start
    for (;;) {
      const { events, hint } = await this.#wait(
        after,
        { ...filter, newerThan },
        {
          signal,
          timeout: Math.max(1, ends - performance.now())
        }
      )
      if (events.length === 0) throw await this.#noMail(what, filter, { signal, timeout, hint })
      newerThan = undefined
      for (const event of events) {
        const before = after
        after = event.event_id
        const returned = `${key} ${after}`
        const undo = () => {
          this.#places.set(key, before)
          this.#answers.delete(event.event_id)
          this.#returned.delete(returned)
        }
        if (start.after === undefined) {
          this.#places.set(key, after)
          if (this.#returned.has(returned)) continue
        }
        const found = pick(event, undo)
        if (found === undefined) continue
        this.#answers.add(after)
        this.#returned.add(returned)
        return found
      }
    }
  }

  #wait(after: string, filter: MailFilter & Pick<ListQuery, "newerThan">, options: CallOptions) {
    const query = { ...filter, recipient: this.address, after, order: "asc", view: "brief", limit: 10 } as const
    return this.#events.wait<"brief">(this.domainId, query, options)
  }

  #callOf({ signal, timeout }: CallOptions) {
    const { signal: own, timeout: usual } = this.#options
    // A function returns the time left, which may be negative.
    const patience = timeout ?? (typeof usual === "number" ? usual : Math.max(0, usual()))
    return {
      signal: own === undefined || signal === undefined ? (own ?? signal) : AbortSignal.any([own, signal]),
      timeout: bounded(patience)
    }
  }

  async #noMail(
    what: string,
    filter: MailFilter,
    {
      hint,
      signal,
      timeout
    }: Pick<CallOptions, "signal"> & { readonly timeout: number; readonly hint: string | undefined }
  ): Promise<NoMail> {
    const { after } = this.#options
    const query = { recipient: this.address, after, order: "asc", view: "brief", limit: 20 } as const
    const listed = (trust: "passed" | "held") =>
      this.#events.list(this.domainId, { ...query, trust }, { signal, timeout: listPatience }).then(
        ({ events }) => events.map(told),
        () => undefined
      )
    const [arrived, held] = await Promise.all([listed("passed"), listed("held")])
    signal?.throwIfAborted()
    const narrowed = Object.entries(filter)
      .filter(([name, value]) => value !== undefined && (what === "" || name !== "has"))
      .map(([name, value]) => `, ${name} ${JSON.stringify(value)}`)
    const wanted = `${what === "" ? "mail" : what}${narrowed.join("")}`
    const came =
      arrived === undefined
        ? "The service did not say what has come to it"
        : arrived.length === 0
          ? "Nothing has come to it"
          : `What has come to it:${lines(arrived)}`
    const isOld = what === "a code" && arrived?.some(({ has }) => has.includes("code")) === true
    const rule = isOld ? `\nWithout \`after\`, code() returns codes of the last ${freshAge}, each once` : ""
    const isHeld = held !== undefined && held.length > 0
    const refused = hint !== undefined ? `\n${hint}` : isHeld ? `\n${heldHint}` : ""
    return new NoMail(`${this.address} has not had ${wanted} within ${seconds(timeout)}. ${came}${rule}${refused}`, {
      address: this.address,
      arrived: arrived ?? []
    })
  }
}

const told = ({ attachments, event_id, extracted, from, receivedAt, subject }: BriefEvent): ArrivedMail => ({
  event_id,
  receivedAt,
  from,
  subject: masked(subject, extracted),
  has: [
    ...(extracted?.code == null ? [] : ["code"]),
    ...(extracted?.links ?? []).map(({ kind }) => `${kind} link`),
    ...(attachments === 0 ? [] : [`${attachments} attachments`])
  ]
})

/** A subject without its code, because errors are printed and logged. */
const masked = (subject: string, extracted: BriefEvent["extracted"]): string =>
  [extracted?.code?.shown, extracted?.code?.value].reduce<string>(
    (text, code) => (code === undefined || code === "" ? text : text.replaceAll(code, "…")),
    subject
  )

/** The subject is untrusted. Quoting it escapes control characters. */
const lines = (arrived: ReadonlyArray<ArrivedMail>) =>
  arrived
    .map(({ from, has, receivedAt, subject }) => {
      const what = has.length === 0 ? "neither code nor link" : has.join(", ")
      return `\n- ${receivedAt} ${JSON.stringify(subject)} from ${JSON.stringify(from)}: ${what}`
    })
    .join("")

/** Twelve random letters and digits. */
const unguessable = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => (byte % 36).toString(36)).join("")
