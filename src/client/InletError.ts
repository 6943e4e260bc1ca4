/** As much of a mail as an error tells: no code and no link, for these are secrets. */
export interface ArrivedMail {
  readonly event_id: string
  readonly receivedAt: string
  readonly from: string
  readonly subject: string
  /** What it has: `code`, `verify link`, `3 attachments`. */
  readonly has: ReadonlyArray<string>
}

/** The service answered, and said no. */
export class ApiError extends Error {
  readonly _tag = "ApiError"
  override readonly name = "ApiError"
  /** Of HTTP; programs go by it. */
  readonly status: number
  /** X-Request-Id: the log of the service has more under it. */
  readonly requestId: string | null
  /** Seconds after which another try may do, or null. */
  readonly retryAfter: number | null
  constructor(message: string, answer: Pick<ApiError, "status" | "requestId" | "retryAfter">) {
    super(message)
    this.status = answer.status
    this.requestId = answer.requestId
    this.retryAfter = answer.retryAfter
  }
}

/** Nobody answered, or not in time, or not as the service does. `cause` has what the platform says. */
export class NoAnswer extends Error {
  readonly _tag = "NoAnswer"
  override readonly name = "NoAnswer"
}

/** An inbox did not get what it was to get; what did come is listed. */
class OtherMail extends Error {
  readonly address: string
  readonly arrived: ReadonlyArray<ArrivedMail>
  constructor(message: string, { address, arrived }: Pick<OtherMail, "address" | "arrived">) {
    super(message)
    this.address = address
    this.arrived = arrived
  }
}

/** The mail that was waited for did not come in time. The message lists what did come. */
export class NoMail extends OtherMail {
  readonly _tag = "NoMail"
  override readonly name = "NoMail"
}

/** Mail came where there was to be none. The message lists it. */
export class UnwantedMail extends OtherMail {
  readonly _tag = "UnwantedMail"
  override readonly name = "UnwantedMail"
}

/** Why a call failed; a signal that ended it is told as its own reason. */
export type InletError = ApiError | NoAnswer | NoMail | UnwantedMail
