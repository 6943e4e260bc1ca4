import { Effect, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Invalid } from "../../model/ApiError.ts"
import * as WholeBody from "./WholeBody.ts"

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** The maximum length of the client's text in an error. */
const shown = 40

/** Whether a route has nothing to read in a body. */
export const isExpected = ({ method, payload }: HttpApiEndpoint.Top): boolean => method !== "GET" && payload.size === 0

/** What is wrong with a body, or undefined if it asks for nothing. Many clients send `{}` or `null` as no body. */
const problemOf = (body: string): string | undefined => {
  if (body === "" || body === "null") return undefined
  const object = decodeObject(body)
  if (Option.isNone(object)) return "The body: Expected none"
  const [field] = Object.keys(object.value)
  return field === undefined ? undefined : `${field.slice(0, shown).toWellFormed()}: There is no such field`
}

/** Refuses a body that asks for something, which the route would ignore: a dry run would be a real one. */
export const check = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!WholeBody.isSent(request)) return
  // One that is too large or torn asks for nothing that can be read.
  const bytes = yield* Effect.orElseSucceed(request.arrayBuffer, () => new ArrayBuffer(0))
  const problem = problemOf(Buffer.from(bytes).toString().trim())
  if (problem !== undefined) return yield* new Invalid({ message: `${problem}; this route takes no body` })
})
