import { FairQueue } from "../schedule/FairQueue.ts"

/** A read of this size means that more data is waiting. Node reads up to 64 KiB. */
const largeRead = 32 * 1024

/**
 * Bytes of large reads processed in one event-loop turn: one of Node's largest reads. Processing them takes about a
 * millisecond, and a small message needs about eight turns until its reply.
 */
const mostOfTurn = 64 * 1024

/** Tenants take turns by the bytes they sent in the last seconds. */
const halfLifeMilliseconds = 2_000
const bytesPerKiB = 1_024

interface Waiting {
  readonly tenant: string
  readonly bytes: number
  readonly go: () => void
}

/**
 * Limits the message bytes that the connections of a server send in one event-loop turn, so that many large messages
 * delay no reply. A connection beyond the limit reads on in a later turn. Tenants with the fewest recent bytes come
 * first.
 */
export class ReadTurns {
  readonly #waiting: FairQueue<Waiting>
  #bytes = 0
  #isScheduled = false

  constructor(now: () => number) {
    this.#waiting = new FairQueue({ now, halfLifeMilliseconds })
  }

  /** Calls back when the connection that read so many bytes of a tenant's message may read on, at once if possible. */
  readOn(tenant: string, bytes: number, go: () => void): void {
    if (bytes < largeRead) {
      go()
      return
    }
    this.#schedule()
    if (this.#waiting.size > 0 || !this.#hasRoomFor(bytes)) {
      this.#waiting.push(tenant, { tenant, bytes, go })
      return
    }
    this.#bytes += bytes
    go()
  }

  /** The first read of a turn has room, whatever its size, so that none waits forever. */
  #hasRoomFor(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= mostOfTurn
  }

  #schedule() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#begin()
    })
  }

  #begin() {
    this.#bytes = 0
    while (this.#waiting.size > 0) {
      const next = this.#waiting.take(({ bytes }) => (this.#hasRoomFor(bytes) ? "take" : "stop"))
      if (next === undefined) break
      this.#bytes += next.bytes
      this.#waiting.charge(next.tenant, next.bytes / bytesPerKiB)
      next.go()
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}
