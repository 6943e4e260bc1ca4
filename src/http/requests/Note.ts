import { Schema } from "effect"

const most = 200

/** An optional line that people read, of up to 200 code points. Null for none. */
export const Note = Schema.optionalKey(
  Schema.NullOr(
    Schema.String.check(
      // Postgres stores neither NUL nor half a pair of surrogates.
      Schema.makeFilter((text) => [...text].length <= most && !/\p{Cc}|\p{Cs}|\ufffd/u.test(text), {
        message: `Expected up to ${most} characters in valid UTF-8, without control characters`
      })
    )
  ).annotate({ description: `for people, up to ${most} characters on one line` })
)
