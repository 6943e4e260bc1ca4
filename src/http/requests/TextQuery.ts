import { Schema } from "effect"

/** An optional text of one line in a query. */
export const text = (most: number, description: string) => {
  const message = `Expected 1 to ${most} characters, without control characters`
  return Schema.optionalKey(
    Schema.String.annotate({ description }).check(
      Schema.makeFilter((text: string) => text.length > 0 && text.length <= most && !/\p{Cc}/u.test(text), { message })
    )
  )
}
