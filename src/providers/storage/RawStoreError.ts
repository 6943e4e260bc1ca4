import { Schema } from "effect"
import { NotFound } from "../../model/ApiError.ts"

/** The store failed: full, read-only, unreachable or damaged. */
export class RawStoreError extends Schema.TaggedError<RawStoreError>()("RawStoreError", { cause: Schema.Defect() }) {}

/** The stored bytes differ from the written ones. */
export class RawDamaged extends Schema.TaggedError<RawDamaged>()("RawDamaged", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export const failed = (cause: unknown) => new RawStoreError({ cause })

export const missing = () => new NotFound({ message: "The raw message is no longer stored" })
