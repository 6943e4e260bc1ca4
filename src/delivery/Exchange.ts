import type { Dispatcher } from "undici"

export interface Answer {
  readonly statusCode: number
  readonly retryAfter: string | null
  /** The first KiB. */
  readonly body: string
}

const keptBytes = 1_024

/** The reason where a webhook switches to another protocol in the place of an answer. */
export const switching = "the webhook answered 101 and wants another protocol; a webhook has to answer 2xx"

/** Nobody waits for the rest of the answer. */
const givenUp = new Error("given up")

/**
 * One request and what comes back of it. The status decides: a body that breaks off,
 * drips or has no end does not change it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** When it began, in milliseconds that go on whatever the clock is set to. */
  readonly startedAt: number
  readonly #answered: (answer: Answer) => void
  readonly #unanswered: (reason: string) => void
  readonly #reasonOf: (error: Error) => string
  readonly #over: (exchange: Exchange) => void
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #statusCode = 0
  #retryAfter: string | null = null
  readonly #chunks: Array<Buffer> = []
  #length = 0

  constructor(options: {
    readonly startedAt: number
    /** One of the two is called, once. */
    readonly answered: (answer: Answer) => void
    readonly unanswered: (reason: string) => void
    readonly reasonOf: (error: Error) => string
    /** It is not under way any more; called once, before its end is told. */
    readonly over: (exchange: Exchange) => void
  }) {
    this.startedAt = options.startedAt
    this.#answered = options.answered
    this.#unanswered = options.unanswered
    this.#reasonOf = options.reasonOf
    this.#over = options.over
  }

  /** Ends it now, with what has come. */
  expire(reason: string): void {
    if (this.#isOver) return
    this.#end(reason)
    this.#controller?.abort(givenUp)
  }

  /** Ends it now, and tells nobody. */
  abandon(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over(this)
    this.#controller?.abort(givenUp)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(givenUp)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    statusCode: number,
    headers: Dispatcher.ResponseData["headers"]
  ): void {
    if (statusCode === 101) {
      this.expire(switching)
      return
    }
    // Early hints are no answer.
    if (statusCode < 200) return
    this.#statusCode = statusCode
    const retryAfter = headers["retry-after"]
    if (typeof retryAfter === "string") this.#retryAfter = retryAfter
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#chunks.push(chunk)
    this.#length += chunk.byteLength
    if (this.#length <= keptBytes) return
    this.#end()
    // With what is too much the connection is cut.
    controller.abort(givenUp)
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_: unknown, error: Error): void {
    if (!this.#isOver) this.#end(this.#reasonOf(error))
  }

  /** The reason counts where there was no status. */
  #end(reason = "no answer"): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over(this)
    if (this.#statusCode === 0) {
      this.#unanswered(reason)
      return
    }
    const body = Buffer.concat(this.#chunks).subarray(0, keptBytes).toString("utf8").replaceAll("\0", "")
    this.#answered({ statusCode: this.#statusCode, retryAfter: this.#retryAfter, body })
  }
}
