import { Effect, SchemaAST, type SchemaIssue } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import * as Issue from "effect/SchemaIssue"
import { Invalid, NotFound } from "../../model/ApiError.ts"

/** A request that does not decode is answered like every other error, naming the field and what is expected. */
export class ValidationErrors extends HttpApiMiddleware.Service<ValidationErrors>()("inlet/http/ValidationErrors", {
  error: [Invalid.http, NotFound.http]
}) {
  static readonly layer = HttpApiMiddleware.layerSchemaErrorTransform(ValidationErrors, (error, { endpoint }) => {
    switch (error.kind) {
      // An id that is no UUID names nothing, like an unknown UUID.
      case "Params":
        return Effect.fail(new NotFound({ message: describe(error.cause.issue) }))
      // Our own answer does not encode: a bug.
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

/** What does not decode, in words: each field and what is expected. `whole` is what the whole should be. */
export const describe = (issue: SchemaIssue.Issue, whole = ""): string =>
  format(issue)
    .issues.map(({ message, path = [] }) => {
      const field = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
      if (field === "") return message === "Expected object" && whole !== "" ? `The body: Expected ${whole}` : message
      return `${field}: ${clearer[message] ?? message}`
    })
    .join("; ")

/** Fields of which none is needed are told where they are few. */
const mostNamed = 2

/** The body of a route in words. */
const bodyOf = ({ payload }: HttpApiEndpoint.Top): string => {
  const [first] = payload.get("application/json")?.schemas ?? []
  const fields = first !== undefined && SchemaAST.isObjects(first.ast) ? first.ast.propertySignatures : []
  const named = (some: typeof fields) => some.map(({ name }) => String(name))
  const needed = named(fields.filter(({ type }) => !SchemaAST.isOptional(type)))
  const names = needed.length > 0 || fields.length > mostNamed ? needed.join(" and ") : named(fields).join(" or ")
  return `a JSON object${names === "" ? "" : ` with ${names}`}, sent as application/json`
}
