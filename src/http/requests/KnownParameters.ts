import { Context, Effect, Layer, type Schema, SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { Invalid } from "../../model/ApiError.ts"
import * as NoBody from "./NoBody.ts"

/** The query parameters of an endpoint that a request may have several times. */
export const Repeatable = Context.Reference<ReadonlyArray<string>>("inlet/http/Repeatable", { defaultValue: () => [] })

/** The maximum length of the client's text in an error. */
const shown = 40

/**
 * Refuses unknown query parameters, and fields in the body of a route that takes none. An ignored misspelled filter
 * would widen a list.
 */
export class KnownParameters extends HttpApiMiddleware.Service<KnownParameters>()("inlet/http/KnownParameters", {
  error: Invalid.http
}) {
  static readonly layer = Layer.succeed(KnownParameters, (httpEffect, { endpoint }) => {
    const known = namesOf(endpoint.query)
    const lists = Context.get(endpoint.annotations, Repeatable)
    const takesNoBody = NoBody.isExpected(endpoint)
    return Effect.gen(function* () {
      for (const [name, value] of Object.entries(yield* HttpServerRequest.ParsedSearchParams)) {
        if (!known.includes(name)) return yield* new Invalid({ message: unknown(name, known) })
        if (typeof value !== "string" && !lists.includes(name))
          return yield* new Invalid({ message: `${name}: Expected it once` })
      }
      if (takesNoBody) yield* NoBody.check
      return yield* httpEffect
    })
  })
}

const namesOf = (query: Schema.Top | undefined): ReadonlyArray<string> =>
  query !== undefined && SchemaAST.isObjects(query.ast)
    ? query.ast.propertySignatures.map(({ name }) => String(name))
    : []

const unknown = (name: string, known: ReadonlyArray<string>) =>
  `${name.slice(0, shown).toWellFormed()}: Unknown query parameter; this route has ${known.length === 0 ? "none" : known.join(", ")}`
