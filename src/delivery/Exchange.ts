import type { Dispatcher } from "undici"
import * as FailureReason from "./FailureReason.ts"

export interface Answer {
  readonly statusCode: number
  readonly retryAfter: string | null
  /** The first KiB. */
  readonly body: string
  /** The target of a redirect, which is not followed. */
  readonly location: string | null
}

const keptBytes = 1_024

/** Inlet does not need the rest of the answer. */
const givenUp = new Error("given up")

/** One request with its answer. The status decides, whatever happens to the body. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Start in monotonic milliseconds. */
  readonly startedAt: number
  readonly #answered: (answer: Answer) => void
  readonly #unanswered: (reason: string) => void
  readonly #reasonOf: (error: Error) => string
  readonly #over: (exchange: Exchange) => void
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #statusCode = 0
  #retryAfter: string | null = null
  #location: string | null = null
  readonly #chunks: Array<Buffer> = []
  #length = 0

  constructor(options: {
    readonly startedAt: number
    /** Exactly one of these is called, once. */
    readonly answered: (answer: Answer) => void
    readonly unanswered: (reason: string) => void
    readonly reasonOf: (error: Error) => string
    /** Called once when the request has ended, before its result. */
    readonly over: (exchange: Exchange) => void
  }) {
    this.startedAt = options.startedAt
    this.#answered = options.answered
    this.#unanswered = options.unanswered
    this.#reasonOf = options.reasonOf
    this.#over = options.over
  }

  /** Ends the request with the answer so far. */
  expire(reason: string): void {
    if (this.#isOver) return
    this.#end(reason)
    this.#controller?.abort(givenUp)
  }

  /** Ends the request without a result. */
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
      this.expire(FailureReason.switching)
      return
    }
    // Informational statuses are not the answer.
    if (statusCode < 200) return
    this.#statusCode = statusCode
    const retryAfter = headers["retry-after"]
    if (typeof retryAfter === "string") this.#retryAfter = retryAfter
    if (typeof headers.location === "string") this.#location = headers.location
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#chunks.push(chunk)
    this.#length += chunk.byteLength
    if (this.#length <= keptBytes) return
    this.#end()
    // An answer beyond the limit closes the connection.
    controller.abort(givenUp)
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_: unknown, error: Error): void {
    if (!this.#isOver) this.#end(this.#reasonOf(error))
  }

  /** The reason counts only without a status. */
  #end(reason = "no answer"): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#over(this)
    if (this.#statusCode === 0) {
      this.#unanswered(reason)
      return
    }
    const body = Buffer.concat(this.#chunks).subarray(0, keptBytes).toString("utf8").replaceAll("\0", "")
    this.#answered({ statusCode: this.#statusCode, retryAfter: this.#retryAfter, body, location: this.#location })
  }
}
