import { Tally } from "../cache/Tally.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import * as RefusalText from "./RefusalText.ts"

/** A refused recipient or message. Texts may be as the client sent them. */
export interface Refusal {
  /** The domain if it is known, or the name in the recipient, or null before `RCPT`. */
  readonly domain: { readonly id: DomainId } | { readonly name: DomainName } | null
  /** `unknown` and `disabled` mean that no domain with this name takes mail. The row has the reason of its workspace. */
  readonly reason: RefusalReason
  /** The code of the reply, or null without one. */
  readonly code: number | null
  readonly reply: string
  /** The client's address, or its network before `RCPT`. */
  readonly client: string
  /** True if a relay named the client. */
  readonly relayed?: boolean
  readonly helo: string
  readonly from: string | null
  readonly recipient: string | null
  readonly subject?: string | null
  readonly messageId?: string | null
  readonly bytes?: number | null
}

/** Equal refusals of an hour, with texts of bounded length. */
export interface Noted extends Required<Refusal> {
  readonly key: string
  /** Who fills the buffer: a domain, a name or a client. */
  readonly owner: string
  /** Bytes that it takes in memory, about. */
  readonly weight: number
  /** True if it counts refusals without details. */
  readonly isRest: boolean
  /** Milliseconds since 1970. */
  readonly hour: number
  firstAt: number
  lastAt: number
  count: number
}

/** The limits of the buffer. Tests shorten them. */
export const limits = {
  /** Different refusals in all. */
  entries: 10_000,
  /** Their bytes, about. */
  bytes: 8 * 1024 * 1024,
  /** Those with a name that is not looked up yet, so that a flood of unknown names leaves room for others. */
  names: 5_000,
  /** Those of one domain, name or client. Beyond them only a count is kept. */
  ofOwner: 200,
  /** Names that one client asks for. Beyond them only a count is kept. */
  namesOfClient: 200,
  /** Counts without details in all. */
  rests: 2_000
}

const hourMillis = 3_600_000

/** Merges equal refusals in memory until they are written. Bounded in total, per domain and per client. */
export class RefusalBuffer {
  readonly #limits: typeof limits
  /** In the order in which they came. */
  readonly #entries = new Map<string, Noted>()
  readonly #ofOwner = new Tally()
  readonly #namesOf = new Tally()
  #rests = 0
  #bytes = 0
  #dropped = 0

  constructor(bounds: Partial<typeof limits> = {}) {
    this.#limits = { ...limits, ...bounds }
  }

  get size(): number {
    return this.#entries.size
  }

  /** Refusals that found no room since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Adds a refusal, or the count of its domain or client if there is no room for its details. */
  add(refusal: Refusal, now: number): void {
    const noted = detailed(refusal, now)
    if (this.#merge(noted) || (this.#hasRoom(noted) && this.#insert(noted))) return
    const rest = restOf(noted, this.#isCrowded(noted))
    if (this.#merge(rest) || (this.#rests < this.#limits.rests && this.#insert(rest))) return
    this.#dropped++
  }

  /** Takes the oldest entries out. */
  take(most: number): ReadonlyArray<Noted> {
    const taken: Array<Noted> = []
    for (const noted of this.#entries.values()) {
      if (taken.length === most) break
      taken.push(noted)
      this.#remove(noted)
    }
    return taken
  }

  /** Puts entries back that could not be written. */
  restore(entries: ReadonlyArray<Noted>): void {
    for (const noted of entries) {
      if (this.#merge(noted)) continue
      if (noted.isRest ? this.#rests < this.#limits.rests : this.#hasRoom(noted)) this.#insert(noted)
      else this.#dropped += noted.count
    }
  }

  /** Counts entries that cannot be written. */
  drop(entries: ReadonlyArray<Noted>): void {
    for (const { count } of entries) this.#dropped += count
  }

  #merge({ count, firstAt, key, lastAt }: Noted): boolean {
    const known = this.#entries.get(key)
    if (known === undefined) return false
    known.count += count
    known.firstAt = Math.min(known.firstAt, firstAt)
    known.lastAt = Math.max(known.lastAt, lastAt)
    return true
  }

  #hasRoom(noted: Noted): boolean {
    return (
      this.#entries.size - this.#rests < this.#limits.entries &&
      this.#bytes + noted.weight <= this.#limits.bytes &&
      this.#ofOwner.of(noted.owner) < this.#limits.ofOwner &&
      !this.#isCrowded(noted)
    )
  }

  /** Whether names are too many to be told apart, in all or of this client. */
  #isCrowded(noted: Noted): boolean {
    return (
      isName(noted) &&
      (this.#namesOf.total >= this.#limits.names || this.#namesOf.of(noted.client) >= this.#limits.namesOfClient)
    )
  }

  #insert(noted: Noted): boolean {
    this.#entries.set(noted.key, noted)
    this.#count(noted, 1)
    return true
  }

  #remove(noted: Noted): void {
    this.#entries.delete(noted.key)
    this.#count(noted, -1)
  }

  #count(noted: Noted, by: 1 | -1): void {
    this.#bytes += by * noted.weight
    if (noted.isRest) this.#rests += by
    else {
      this.#ofOwner.add(noted.owner, by)
      if (isName(noted)) this.#namesOf.add(noted.client, by)
    }
  }
}

const isName = ({ domain }: Noted) => domain !== null && "name" in domain

const keyOf = (parts: ReadonlyArray<string | number | null>) => parts.join("\0")

const detailed = (refusal: Refusal, now: number): Noted => {
  const { bytes = null, domain, messageId = null, reason, relayed = false, subject = null } = refusal
  const hour = now - (now % hourMillis)
  const client = RefusalText.text(refusal.client)
  const owner = domain === null ? client : "id" in domain ? domain.id : domain.name
  const noted = {
    domain,
    reason,
    client,
    relayed,
    owner,
    bytes,
    code: refusal.code,
    reply: RefusalText.text(refusal.reply),
    helo: RefusalText.text(refusal.helo),
    from: refusal.from === null ? null : RefusalText.address(refusal.from),
    recipient: refusal.recipient === null ? null : RefusalText.address(refusal.recipient),
    subject: subject === null ? null : RefusalText.text(subject),
    messageId: messageId === null ? null : RefusalText.text(messageId),
    isRest: false,
    hour,
    firstAt: now,
    lastAt: now,
    count: 1
  }
  const { code, from, recipient } = noted
  const key =
    domain === null
      ? keyOf([hour, owner, reason])
      : keyOf([hour, owner, reason, code, client, from, recipient, noted.messageId, ...(relayed ? ["relayed"] : [])])
  return { ...noted, key, weight: weightOf(noted, key) }
}

/** Bytes of an entry's objects. Characters count as two bytes. */
const emptyWeight = 400

const weightOf = ({ from, helo, messageId, recipient, reply, subject }: Omit<Noted, "key" | "weight">, key: string) =>
  emptyWeight +
  2 * [key, from, helo, messageId, recipient, reply, subject].reduce((sum, text) => sum + (text?.length ?? 0), 0)

/** The count that stands for refusals without details: of the domain, or of the client if it asks for many names. */
const restOf = (noted: Noted, isOfClient: boolean): Noted => {
  const owner = isOfClient ? noted.client : noted.owner
  return {
    ...noted,
    domain: isOfClient ? null : noted.domain,
    owner,
    client: isOfClient ? noted.client : "",
    helo: isOfClient ? noted.helo : "",
    from: null,
    recipient: null,
    subject: null,
    messageId: null,
    bytes: null,
    isRest: true,
    weight: emptyWeight,
    key: keyOf([noted.hour, owner, noted.reason, isOfClient ? "names" : "rest"])
  }
}
