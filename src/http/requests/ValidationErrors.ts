import { Effect, SchemaAST, type SchemaIssue } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import * as Issue from "effect/SchemaIssue"
import { Invalid, NotFound } from "../../model/ApiError.ts"

/** Answers a malformed request like every other error, with the field and the expected form. */
export class ValidationErrors extends HttpApiMiddleware.Service<ValidationErrors>()("inlet/http/ValidationErrors", {
  error: [Invalid.http, NotFound.http]
}) {
  static readonly layer = HttpApiMiddleware.layerSchemaErrorTransform(ValidationErrors, (error, { endpoint }) => {
    switch (error.kind) {
      // A malformed id answers like an unknown UUID.
      case "Params":
        return Effect.fail(new NotFound({ message: describe(error.cause.issue) }))
      // An answer that cannot be encoded is a bug.
      case "Body":
      case "ResponseHeaders":
        return Effect.die(error.cause)
      case "Payload":
        return Effect.fail(new Invalid({ message: describe(error.cause.issue, bodyOf(endpoint)) }))
      case "Headers":
      case "Query":
        return Effect.fail(new Invalid({ message: describe(error.cause.issue) }))
    }
  })
}

const format = Issue.makeFormatterStandardSchemaV1()

/** Replaces unclear messages of the schema library. */
const clearer: Readonly<Record<string, string>> = {
  "Missing key": "Expected a value, but it is missing",
  "Expected no excess property": "There is no such field",
  "Expected a UUID": "Expected a UUID, as the lists and answers of this API give it"
}

/** Describes decoding errors: each field with the expected form. `whole` is the expected form of the whole. */
export const describe = (issue: SchemaIssue.Issue, whole = ""): string =>
  format(issue)
    .issues.map(({ message, path = [] }) => {
      const field = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
      if (field === "") return message === "Expected object" && whole !== "" ? `The body: Expected ${whole}` : message
      return `${field}: ${clearer[message] ?? message}`
    })
    .join("; ")

/** Maximum optional fields in a message, the first ones of the contract. */
const mostNamed = 2

/** The expected body of a route as text. */
const bodyOf = ({ payload }: HttpApiEndpoint.Top): string => {
  const [first] = payload.get("application/json")?.schemas ?? []
  const fields = first !== undefined && SchemaAST.isObjects(first.ast) ? first.ast.propertySignatures : []
  const named = (some: typeof fields) => some.map(({ name }) => String(name))
  const needed = named(fields.filter(({ type }) => !SchemaAST.isOptional(type)))
  const names = needed.length > 0 ? needed.join(" and ") : named(fields.slice(0, mostNamed)).join(" or ")
  return `a JSON object${names === "" ? "" : ` with ${names}`}, sent as application/json`
}
