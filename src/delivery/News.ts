import { Array, Schema } from "effect"
import { DomainId } from "../model/Domain.ts"
import { WebhookId } from "../model/Webhook.ts"

/** A domain has new events. Those of one webhook may be due. */
export interface Announcement {
  readonly domainId: DomainId
  /** Null if nothing is due. */
  readonly due: WebhookId | null
}

const isDomainId = Schema.is(DomainId)
const isWebhookId = Schema.is(WebhookId)

/** Announcements of one message: less than PostgreSQL's 8,000 bytes, at 74 bytes each. */
const perMessage = 100

/** Messages of one notice. The rest waits for the next one. */
const messagesAtOnce = 20

/** Announcements that wait for a notice. Listeners find the events of others by polling. */
const most = 10_000

/**
 * The news for other processes, each domain and webhook once. A message is the id of its process and, after
 * commas, a domain id for each announcement, with the id of a webhook if events are due.
 */
export class News {
  readonly #process: string
  readonly #waiting = new Set<string>()

  constructor(process: string) {
    this.#process = process
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add({ domainId, due }: Announcement): void {
    if (this.#waiting.size < most) this.#waiting.add(due === null ? domainId : `${domainId} ${due}`)
  }

  /** Takes the messages of one notice, the oldest announcements first. */
  take(): ReadonlyArray<string> {
    const taken = Array.take(this.#waiting, perMessage * messagesAtOnce)
    for (const one of taken) this.#waiting.delete(one)
    return Array.chunksOf(taken, perMessage).map((some) => [this.#process, ...some].join(","))
  }

  /** The announcements of a message. None for a message of this process, which has announced them itself. */
  read(message: string): ReadonlyArray<Announcement> {
    const [process, ...all] = message.split(",")
    if (process === this.#process) return []
    return all.flatMap((one) => {
      const [domainId, due] = one.split(" ")
      return isDomainId(domainId) ? [{ domainId, due: isWebhookId(due) ? due : null }] : []
    })
  }
}
