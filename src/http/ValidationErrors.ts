import { Effect, type SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import * as Issue from "effect/SchemaIssue"
import { Invalid, NotFound } from "../model/ApiError.ts"

/** A request that does not decode is answered like every other error, naming the field and what is expected. */
export class ValidationErrors extends HttpApiMiddleware.Service<ValidationErrors>()("inlet/http/ValidationErrors", {
  error: [Invalid.http, NotFound.http]
}) {
  static readonly layer = HttpApiMiddleware.layerSchemaErrorTransform(ValidationErrors, (error) => {
    switch (error.kind) {
      // An id that is no UUID names nothing, like an unknown UUID.
      case "Params":
        return Effect.fail(new NotFound({ message: "No such resource" }))
      // Our own answer does not encode: a bug.
      case "Body":
      case "ResponseHeaders":
        return Effect.die(error.cause)
      case "Headers":
      case "Query":
      case "Payload":
        return Effect.fail(new Invalid({ message: describe(error.cause.issue) }))
    }
  })
}

const format = Issue.makeFormatterStandardSchemaV1()

const describe = (issue: SchemaIssue.Issue): string =>
  format(issue)
    .issues.map(({ message, path = [] }) => {
      const field = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
      const expected = message === "Missing key" ? "Expected a value, but it is missing" : message
      return field === "" ? expected : `${field}: ${expected}`
    })
    .join("; ")
