import { Cause, Schema } from "effect"
import * as ErrorOrigin from "../ErrorOrigin.ts"

/** Inlet could not store the message. The sender must keep it and retry. */
export class NotStored extends Schema.TaggedError<NotStored>()("NotStored", { cause: Schema.Defect() }) {
  override readonly message = `The message could not be stored: ${ErrorOrigin.messageOf(this.cause)}`
}

export const notStored = (cause: unknown) =>
  new NotStored({ cause: Cause.isCause(cause) ? Cause.squash(cause) : cause })
