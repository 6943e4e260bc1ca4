/** The part of a mail that an error shows. Excludes codes and links, which are secrets. */
export interface ArrivedMail {
  readonly event_id: string
  readonly receivedAt: string
  readonly from: string
  readonly subject: string
  /** Its contents, such as `code`, `verify link`, `3 attachments`. */
  readonly has: ReadonlyArray<string>
}

/** What SMTP would have answered. From 500 on the refusal is final. */
export interface SmtpReply {
  readonly code: number
  /** The enhanced status code (RFC 3463). */
  readonly enhanced: string
  readonly text: string
}

/** The service refused the request. */
export class ApiError extends Error {
  readonly _tag = "ApiError"
  override readonly name = "ApiError"
  /** The HTTP status. */
  readonly status: number
  /** X-Request-Id, which identifies the request in the service's log. */
  readonly requestId: string | null
  /** Seconds until a retry may succeed, or null. */
  readonly retryAfter: number | null
  /** The reply to a mail that `ingest` handed over, or null. */
  readonly smtp: SmtpReply | null
  constructor(message: string, answer: Pick<ApiError, "status" | "requestId" | "retryAfter" | "smtp">) {
    super(message)
    this.status = answer.status
    this.requestId = answer.requestId
    this.retryAfter = answer.retryAfter
    this.smtp = answer.smtp
  }
}

/** No answer, a timeout, or an answer of another program. `cause` has the platform's error. */
export class NoAnswer extends Error {
  readonly _tag = "NoAnswer"
  override readonly name = "NoAnswer"
}

/** An inbox did not receive the expected mail. The message lists the mail that did arrive. */
class OtherMail extends Error {
  readonly address: string
  readonly arrived: ReadonlyArray<ArrivedMail>
  constructor(message: string, { address, arrived }: Pick<OtherMail, "address" | "arrived">) {
    super(message)
    this.address = address
    this.arrived = arrived
  }
}

/** The wait timed out without a matching mail. The message lists the mails that did arrive. */
export class NoMail extends OtherMail {
  readonly _tag = "NoMail"
  override readonly name = "NoMail"
}

/** Unexpected mail arrived. The message lists it. */
export class UnwantedMail extends OtherMail {
  readonly _tag = "UnwantedMail"
  override readonly name = "UnwantedMail"
}

/** The reason of a failed call. For an aborted call the signal's reason. */
export type InletError = ApiError | NoAnswer | NoMail | UnwantedMail
