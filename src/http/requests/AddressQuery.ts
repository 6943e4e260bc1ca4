import { Schema } from "effect"

/** No address contains NUL, and Postgres rejects it. */
export const Address = Schema.String.annotate({ description: "an address, compared without case" }).check(
  Schema.isPattern(/^[^\0]*$/, { message: "Expected an address" })
)
