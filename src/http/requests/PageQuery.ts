import { Schema, SchemaTransformation } from "effect"
import * as OpenApiSchemas from "./OpenApiSchemas.ts"

/** A whole number in a query. */
export const between = (minimum: number, maximum: number, meaning: string) => {
  const message = `Expected a whole number from ${minimum} to ${maximum}`
  // The description is taken from the encoded side, which is the wire form.
  return Schema.String.annotate({
    description: `${meaning}; ${minimum} to ${maximum}`,
    ...OpenApiSchemas.wholeNumber(minimum, maximum)
  }).pipe(
    Schema.decodeTo(
      Schema.Finite.annotate({ message }).check(
        Schema.isInt({ message }),
        Schema.isBetween({ minimum, maximum }, { message })
      ),
      digits
    )
  )
}

/** Digits alone. `Number` also takes `1e1`, `0x10` and spaces. */
const digits = SchemaTransformation.transform({
  decode: (text: string) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN),
  encode: String
})

export const Limit = Schema.optionalKey(between(1, 100, "page size, 50 by default"))

export const NextCursor = Schema.NullOr(Schema.String).annotate({
  description: "pass it as `cursor` for the next page, null at the end"
})

export const Cursor = Schema.optionalKey(
  Schema.String.annotate({ description: "`next_cursor` of the previous page, with the same filters" })
)
