import { Schema } from "effect"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"

/** An optional time in a query or a body. */
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
