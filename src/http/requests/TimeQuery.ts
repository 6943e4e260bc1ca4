import { DateTime, Effect, Option, Schema } from "effect"
import { Invalid } from "../../model/ApiError.ts"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"

const form = "Expected a time such as 2026-01-31T12:00:00Z"

/** Four digits for the year, because JavaScript's range exceeds that of Postgres. */
const start = /^\d{4}-\d\d-\d\d/

/** JavaScript reads 30 February as 2 March. */
const isDay = (date: string) => Option.exists(DateTime.make(date), (day) => DateTime.formatIsoDateUtc(day) === date)

const problemOf = (text: string): string | undefined => {
  const date = start.exec(text)?.[0]
  if (date !== undefined && isDay(date) && Option.isSome(DateTime.make(text))) return undefined
  // A plus sign in a query is a space.
  return / \d\d:?\d\d$/.test(text) ? `${form}, with %2B for the + of a time zone` : form
}

/** An optional time in a query or a body. */
export const time = (meaning: string) =>
  Schema.optionalKey(
    Schema.String.annotate({
      description: `${meaning}, such as 2026-01-31T12:00:00Z`,
      ...OpenApiSchemas.dateTime
    })
      .check(Schema.makeFilter(problemOf))
      .pipe(Schema.decodeTo(Schema.DateTimeUtcFromString))
  )

/** Fails if no time is within the bounds. */
export const requireOrder = ({ since, until }: { readonly since?: DateTime.Utc; readonly until?: DateTime.Utc }) =>
  since !== undefined && until !== undefined && DateTime.isGreaterThan(since, until)
    ? Effect.fail(new Invalid({ message: "until: Expected a time that is not before since" }))
    : Effect.void
