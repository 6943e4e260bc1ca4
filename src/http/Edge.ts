import { Cause, Clock, Effect, Exit, Metric } from "effect"
import * as ByteSize from "effect/ByteSize"
import { SecureRandom } from "effect/crypto"
import { HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"

/** Largest request body. */
const largestBody = ByteSize.kibibytes(256)

/** The methods of our routes; one that a client makes up is no label. */
const methods = new Set<string>(["GET", "HEAD", "POST", "PATCH", "DELETE"])

const requests = Metric.counter("inlet_http_requests_total", { description: "Answered requests by method and status" })

/**
 * The outermost layer of every route: gives the request its id, and every
 * error its one shape, those of unknown routes, oversized bodies and bugs too.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    return (httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const asked = request.headers["x-request-id"]
        const id = asked !== undefined && /^[\w.:-]{1,128}$/.test(asked) ? asked : yield* random.uuidV7()
        const path = request.url.replace(/[?#].*$/s, "")
        const started = yield* Clock.currentTimeMillis

        const handled = isTooLarge(request)
          ? Effect.succeed(failure(413, "The body is larger than 256 KiB"))
          : Effect.flatMap(Effect.exit(Patience.ofRequest(httpEffect)), answer)
        const response = yield* handled.pipe(Effect.annotateLogs({ request_id: id }))

        yield* Metric.update(
          Metric.withAttributes(requests, {
            method: methods.has(request.method) ? request.method : "other",
            status: `${response.status}`
          }),
          1
        )
        yield* Effect.logDebug("HTTP request").pipe(
          Effect.annotateLogs({
            request_id: id,
            method: request.method,
            path,
            status: response.status,
            duration_ms: (yield* Clock.currentTimeMillis) - started
          })
        )
        return response.pipe(
          HttpServerResponse.setHeader("x-request-id", id),
          response.status === 401 && !path.startsWith("/api/demo/")
            ? HttpServerResponse.setHeader("www-authenticate", "Bearer")
            : (same) => same,
          (response.status === 503 || response.status === 429) && response.headers["retry-after"] === undefined
            ? HttpServerResponse.setHeader("retry-after", "5")
            : (same) => same
        )
      }).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, largestBody))
  }),
  { global: true }
)

const isTooLarge = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  Number(headers["content-length"] ?? 0) > ByteSize.toNumberUnsafe(largestBody)

const failure = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ error: message }, { status })

const answer = Effect.fnUntraced(function* (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>) {
  if (Exit.isSuccess(exit)) {
    const { body, headers, status } = exit.value
    const isOurs =
      body._tag !== "Empty" && (headers["content-type"] ?? body.contentType)?.startsWith("application/json")
    if (status < 400 || isOurs === true) return exit.value
    // Another content type is one more way not to have the documented form.
    if (status === 415) return failure(400, "Content-Type: Expected application/json")
    return failure(status, words[status] ?? "The request failed")
  }
  if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
  const reasons = exit.cause.reasons.flatMap((reason) =>
    Cause.isFailReason(reason) ? [reason.error] : Cause.isDieReason(reason) ? [reason.defect] : []
  )
  if (reasons.some(isOversized)) return failure(413, "The body is larger than 256 KiB")
  if (reasons.some((reason) => SqlError.isSqlError(reason) && isUnreachable(reason))) {
    yield* Effect.logError("The database is out of reach", exit.cause)
    return failure(503, "The database is out of reach; try again in a moment")
  }
  const [response] = yield* HttpServerError.causeResponse(exit.cause)
  if (response.status < 500) return failure(response.status, words[response.status] ?? "The request failed")
  yield* Effect.logError("A request failed", exit.cause)
  return failure(500, "internal error")
})

const words: Record<number, string> = {
  400: "The request is not valid HTTP or JSON",
  404: "No such route; GET /docs lists them",
  413: "The body is larger than 256 KiB"
}

/** A body that grew over the limit while it was read. */
const isOversized = (reason: unknown): boolean =>
  HttpServerError.isHttpServerError(reason) &&
  reason.reason._tag === "RequestParseError" &&
  String(reason.reason.cause).includes("maxBytes")
