import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** Every error answers `{"error": message}`. Only the status distinguishes kinds (spec, section 7). */
export const ErrorBody = Schema.Struct({ error: Schema.String }).annotate({ identifier: "Error" })

const answers = <Self extends { readonly message: string }>(
  status: number,
  error: new (fields: { readonly message: string }) => Self
) =>
  ErrorBody.pipe(
    Schema.decodeTo(
      Schema.instanceOf(error),
      SchemaTransformation.transform({
        decode: (body) => new error({ message: body.error }),
        encode: (self) => ({ error: self.message })
      })
    ),
    HttpApiSchema.status(status)
  )

/** The request differs from the documented form. `message` names the field and the expected form. */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", { message: Schema.String }) {
  static readonly http = answers(400, Invalid)
}

export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", { message: Schema.String }) {
  static readonly http = answers(401, Unauthorized)
}

/** The key is valid, but its scope does not allow this. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { message: Schema.String }) {
  static readonly http = answers(403, Forbidden)
}

/** The object does not exist or belongs to another workspace. Both answers are equal. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {
  static readonly http = answers(404, NotFound)
}

export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { message: Schema.String }) {
  static readonly http = answers(409, Conflict)
}

/** The message exceeds its maximum size. */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", { message: Schema.String }) {
  static readonly http = answers(413, TooLarge)
}

/** The request is valid, but conflicts with an earlier one. */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", { message: Schema.String }) {
  static readonly http = answers(422, Unprocessable)
}

export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  message: Schema.String,
  /** Seconds for the header `Retry-After`. */
  retryAfter: Schema.Int
}) {
  static readonly http = Schema.instanceOf(TooManyRequests).pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: ErrorBody.pipe(HttpApiSchema.status(429)), headers: { "retry-after": Schema.Int } },
      {
        decode: ({ body, headers }) => new TooManyRequests({ message: body.error, retryAfter: headers["retry-after"] }),
        encode: ({ message, retryAfter }) => ({ body: { error: message }, headers: { "retry-after": retryAfter } })
      }
    )
  )
}

/** The database or the raw store is unavailable. A retry may succeed. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { message: Schema.String }) {
  static readonly http = answers(503, Unavailable)
}

/** The stored bytes are damaged. A retry does not help. */
export class Damaged extends Schema.TaggedError<Damaged>()("Damaged", { message: Schema.String }) {
  static readonly http = answers(500, Damaged)
}

/** A registrar or the payment provider failed or answered incorrectly, after retries. */
export class BadGateway extends Schema.TaggedError<BadGateway>()("BadGateway", { message: Schema.String }) {
  static readonly http = answers(502, BadGateway)
}
