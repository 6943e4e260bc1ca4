import { Schema } from "effect"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"

/** A time in a query or a body. */
export const time = (meaning: string) => {
  const message = "Expected a time such as 2026-01-31T12:00:00Z"
  return Schema.optionalKey(
    Schema.String.annotate({
      description: `${meaning}, such as 2026-01-31T12:00:00Z`,
      ...OpenApiSchemas.dateTime
    })
      // Four digits for the year, because JavaScript's range exceeds that of Postgres.
      .check(Schema.isPattern(/^\d{4}-\d\d-\d\d/, { message }))
      .pipe(Schema.decodeTo(Schema.DateTimeUtcFromString.annotate({ message })))
  )
}

/** No address contains NUL, and Postgres rejects it. */
export const Address = Schema.String.annotate({ description: "an address, compared without case" }).check(
  Schema.isPattern(/^[^\0]*$/, { message: "Expected an address" })
)
