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
        return Effect.fail(new Invalid({ message: describe(error.cause.issue, bodyOf(endpoint), fieldsOf(endpoint)) }))
      case "Headers":
      case "Query":
        return Effect.fail(new Invalid({ message: describe(error.cause.issue) }))
    }
  })
}

const format = Issue.makeFormatterStandardSchemaV1()

const excess = "Expected no excess property"

/** Replaces unclear messages of the schema library. */
const clearer: Readonly<Record<string, string>> = {
  "Missing key": "Expected a value, but it is missing",
  [excess]: "There is no such field",
  "Expected string | null": "Expected a text or null",
  "Expected a UUID": "Expected a UUID, as the lists and answers of this API give it"
}

const literals = /^Expected ("[\w .-]*"(?: \| "[\w .-]*")+)$/
const oneOf = (_: string, all: string) => `Expected one of ${all.replaceAll('"', "").replaceAll(" | ", ", ")}`

/** The maximum length of a field's name in a message. Clients choose unknown ones. */
const shown = 100

/** The whole is no object, or none of those that a route takes. */
const isWhole = (message: string) => /^Expected (?:object|[A-Z]\w+)$/.test(message)

/**
 * Describes decoding errors: each field with the expected form. `whole` is the expected form of the whole, and `fields`
 * its fields. `taker` is what takes them.
 */
export const describe = (
  issue: SchemaIssue.Issue,
  whole = "",
  fields: ReadonlyArray<string> = [],
  taker = "this route"
): string =>
  format(issue)
    .issues.map(({ message, path = [] }) => {
      const names = path.map((segment) => String(typeof segment === "object" ? segment.key : segment))
      const field = names.join(".").slice(0, shown).toWellFormed()
      if (field === "") return isWhole(message) && whole !== "" ? `The body: Expected ${whole}` : message
      if (message === excess && names.length === 1 && fields.length > 0)
        return `${field}: There is no such field; ${taker} has ${fields.join(", ")}`
      return `${field}: ${clearer[message] ?? message.replace(literals, oneOf)}`
    })
    .join("; ")

/** Maximum optional fields in a message, the first ones of the contract. */
const mostNamed = 2

const signaturesOf = ({ payload }: HttpApiEndpoint.Top) => {
  const [first] = payload.get("application/json")?.schemas ?? []
  return first !== undefined && SchemaAST.isObjects(first.ast) ? first.ast.propertySignatures : []
}

const fieldsOf = (endpoint: HttpApiEndpoint.Top) => signaturesOf(endpoint).map(({ name }) => String(name))

/** The expected body of a route as text. */
const bodyOf = (endpoint: HttpApiEndpoint.Top): string => {
  const fields = signaturesOf(endpoint)
  const named = (some: typeof fields) => some.map(({ name }) => String(name))
  const needed = named(fields.filter(({ type }) => !SchemaAST.isOptional(type)))
  const names = needed.length > 0 ? needed.join(" and ") : named(fields.slice(0, mostNamed)).join(" or ")
  return `a JSON object${names === "" ? "" : ` with ${names}`}, sent as application/json`
}
