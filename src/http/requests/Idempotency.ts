import { createHash } from "node:crypto"
import { Cause, Duration, Effect, Exit, Fiber, FiberSet, Layer, Option, Schedule, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Conflict, Invalid, NotFound, TooManyRequests, Unprocessable } from "../../model/ApiError.ts"
import { type Answer, IdempotencyKeys, isAnswer, mostMinutes, type Turn } from "../../workspaces/IdempotencyKeys.ts"
import { CurrentWorkspace } from "./CurrentWorkspace.ts"
import * as DatabaseErrors from "./DatabaseErrors.ts"

/** An answer changes nothing once another request has taken the turn over, which is possible after five minutes. */
const untilLost = Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: Duration.minutes(mostMinutes) }))

const form = "Expected 1 to 255 printable ASCII characters, such as a UUID"

/** The header for routes that accept it, beside their other headers. */
export const headers = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[!-~]{1,255}$/, { message: form })).annotate({
      description:
        "Makes the request safe to repeat. Inlet runs it once per key within 24 hours and repeats the answer. 422 for another body, 409 while the first request is running. 5xx answers are not stored. If the process ends, or the database is away for five minutes, after the work and before its answer is stored, a repetition after five minutes runs the work again."
    })
  )
}

/** Executes a request once for each `Idempotency-Key`. Its workspace is known before. */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentWorkspace }>()(
  "inlet/http/Idempotency",
  { error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http, Unprocessable.http] }
) {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const underWay = yield* FiberSet.make()

      /** Stores the answer, in an outage of the database after it. What was done is answered meanwhile. */
      const keep = (turn: Turn, answer: Answer) =>
        Effect.catch(keys.keep(turn, answer), (error) =>
          Effect.logWarning(
            "The answer to an Idempotency-Key could not be stored. Inlet tries for five minutes",
            error
          ).pipe(
            Effect.andThen(
              keys.keep(turn, answer).pipe(
                Effect.retry(untilLost),
                Effect.catch((error) =>
                  Effect.logError("The answer to an Idempotency-Key was not stored. A repetition runs again", error)
                ),
                FiberSet.run(underWay)
              )
            )
          )
        )

      return Idempotency.of((httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const key = request.headers["idempotency-key"]
          // A malformed key is refused with the other headers.
          if (key === undefined || !/^[!-~]{1,255}$/.test(key)) return yield* httpEffect
          const { id } = yield* CurrentWorkspace
          const { pathname, search } = new URL(request.url, "http://localhost")
          const body = yield* Effect.orElseSucceed(request.arrayBuffer, () => undefined)
          // Too large or incomplete. The handler answers.
          if (body === undefined) return yield* httpEffect
          const turn = yield* keys.begin({
            workspaceId: id,
            route: `${request.method} ${pathname}`,
            key,
            fingerprint: createHash("sha256").update(`${search}\n`).update(new Uint8Array(body)).digest()
          })
          if ("_tag" in turn) return yield* again(turn)
          const work = Effect.onExit(httpEffect, (exit) => {
            const answer = answerOf(exit)
            return answer === undefined ? keys.forget(turn) : keep(turn, answer)
          })
          // The work continues after a disconnect, so a repeated request finds the answer.
          return yield* Fiber.join(yield* FiberSet.run(underWay, work))
        }).pipe(Effect.catchIf(SqlError.isSqlError, DatabaseErrors.answer))
      )
    })
  ).pipe(Layer.provide(IdempotencyKeys.layer))
}

const again = (answer: Answer) => {
  switch (answer._tag) {
    case "Response":
      return Effect.succeed(
        HttpServerResponse.setHeader(
          answer.body === null
            ? HttpServerResponse.empty({ status: answer.status })
            : HttpServerResponse.text(answer.body, { status: answer.status, contentType: "application/json" }),
          "idempotency-replayed",
          "true"
        )
      )
    case "Invalid":
      return Effect.fail(new Invalid(answer))
    case "NotFound":
      return Effect.fail(new NotFound(answer))
    case "Conflict":
      return Effect.fail(new Conflict(answer))
  }
}

const utf8 = new TextDecoder()

/** The stored answer, or undefined if the request must be executed again. */
const answerOf = <E>(exit: Exit.Exit<HttpServerResponse.HttpServerResponse, E>): Answer | undefined => {
  if (Exit.isFailure(exit)) {
    const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    return isAnswer(error) ? { _tag: error._tag, message: error.message } : undefined
  }
  const { body, status } = exit.value
  if (status >= 500) return undefined
  if (body._tag === "Empty") return { _tag: "Response", status, body: null }
  return body._tag === "Uint8Array" ? { _tag: "Response", status, body: utf8.decode(body.body) } : undefined
}
