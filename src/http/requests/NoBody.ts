import { Effect, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Invalid } from "../../model/ApiError.ts"

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** The maximum length of the client's text in an error. */
const shown = 40

/** Whether a route has nothing to read in a body. */
export const isRuleOf = ({ method, payload }: HttpApiEndpoint.Top): boolean => method !== "GET" && payload.size === 0

/**
 * Refuses a body that asks for something, which the route would ignore: a dry run would be a real one. Many clients
 * send `{}` or `null` where there is no body.
 */
export const expected = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (request.headers["transfer-encoding"] === undefined && !(Number(request.headers["content-length"]) > 0)) return
  // One that is too large or torn asks for nothing that can be read.
  const bytes = yield* Effect.orElseSucceed(request.arrayBuffer, () => new ArrayBuffer(0))
  const text = Buffer.from(bytes).toString().trim()
  if (text === "" || text === "null") return
  const [field] = Object.keys(Option.getOrElse(decodeObject(text), () => ({ "The body": text })))
  if (field === undefined) return
  const what = field === "The body" ? "Expected none" : "There is no such field"
  return yield* new Invalid({ message: `${field.slice(0, shown).toWellFormed()}: ${what}; this route takes no body` })
})
