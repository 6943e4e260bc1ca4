import { Schema } from "effect"

/** We could not store the message, so the sender must keep it. */
export class NotStored extends Schema.TaggedError<NotStored>()("NotStored", { cause: Schema.Defect() }) {}

export const notStored = (cause: unknown) => new NotStored({ cause })
