import { Schema } from "effect"
import { NotFound } from "../../model/ApiError.ts"

/** The store could not do it: full, read-only, out of reach, damaged. */
export class RawStoreError extends Schema.TaggedError<RawStoreError>()("RawStoreError", { cause: Schema.Defect() }) {}

export const failed = (cause: unknown) => new RawStoreError({ cause })

export const missing = () => new NotFound({ message: "The raw message is no longer kept" })
