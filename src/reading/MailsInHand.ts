import { Tally } from "../cache/Tally.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"
import type { Mail } from "./Mail.ts"

/** Bytes of messages whose events are not written yet, of all tenants. */
const mostBytes = 64 * 1024 * 1024

/** A tenant with at most this many bytes is admitted until all tenants have `mostBytesWithFew`. */
const fewBytes = 256 * 1024
const mostBytesWithFew = 96 * 1024 * 1024

/**
 * Counts the messages that this process is parsing, and their bytes per tenant. A tenant may hold at most as many bytes
 * as are still free, so one tenant alone gets half of the memory. Small messages of other tenants get extra room.
 */
export class MailsInHand {
  /** Counts per message. 2 if its lease expired and this process claimed it again. */
  readonly #mails = new Map<InboundEmailId, { count: number; readonly since: number }>()
  readonly #bytes = new Tally()

  get isEmpty(): boolean {
    return this.#mails.size === 0
  }

  /** Reserves memory for a message before it is stored. Returns false if there is none. */
  reserve(tenant: string, bytes: number): boolean {
    const held = this.#bytes.of(tenant)
    const { total } = this.#bytes
    const hasRoom = held < mostBytes - total || (held + bytes <= fewBytes && total + bytes <= mostBytesWithFew)
    if (hasRoom) this.#bytes.add(tenant, bytes)
    return hasRoom
  }

  /** Releases reserved memory. */
  release(tenant: string, bytes: number): void {
    this.#bytes.add(tenant, -bytes)
  }

  /** All messages, or those since a time in milliseconds. */
  ids({ since = 0 }: { readonly since?: number } = {}): ReadonlyArray<InboundEmailId> {
    return [...this.#mails].flatMap(([id, mail]) => (mail.since >= since ? [id] : []))
  }

  enter(tenant: string, { bytes, id }: Pick<Mail, "bytes" | "id">, now: number): void {
    const known = this.#mails.get(id)
    this.#mails.set(id, { count: (known?.count ?? 0) + 1, since: known?.since ?? now })
    this.#bytes.add(tenant, bytes)
  }

  leave(tenant: string, { bytes, id }: Pick<Mail, "bytes" | "id">): void {
    const known = this.#mails.get(id)
    if (known !== undefined && known.count > 1) known.count--
    else this.#mails.delete(id)
    this.#bytes.add(tenant, -bytes)
  }
}
