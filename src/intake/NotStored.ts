import { Schema } from "effect"

/** Inlet could not store the message. The sender must keep it and retry. */
export class NotStored extends Schema.TaggedError<NotStored>()("NotStored", { cause: Schema.Defect() }) {}

export const notStored = (cause: unknown) => new NotStored({ cause })
