import { Cause, Schema } from "effect"

/** Inlet could not store the message. The sender must keep it and retry. */
export class NotStored extends Schema.TaggedError<NotStored>()("NotStored", { cause: Schema.Defect() }) {
  override readonly message = `The message could not be stored: ${reasonOf(this.cause)}`
}

export const notStored = (cause: unknown) =>
  new NotStored({ cause: Cause.isCause(cause) ? Cause.squash(cause) : cause })

/** The innermost error, because outer ones only name the part that failed. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined || error.cause === null ? error.message : reasonOf(error.cause)
}
