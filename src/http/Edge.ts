import type { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Effect, Exit, Metric, Option } from "effect"
import * as ByteSize from "effect/ByteSize"
import { SecureRandom } from "effect/crypto"
import { HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import { Tally } from "../cache/Tally.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import { Asker } from "../database/Turns.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { AllowedMethods } from "./AllowedMethods.ts"
import { AnswerRoom } from "./answers/AnswerRoom.ts"
import * as CurrentAnswer from "./answers/CurrentAnswer.ts"
import * as NotFoundPage from "./pages/NotFoundPage.ts"
import * as PageFrame from "./pages/PageFrame.ts"
import * as BodyLimit from "./requests/BodyLimit.ts"
import * as ClientAddress from "./requests/ClientAddress.ts"
import * as DatabaseErrors from "./requests/DatabaseErrors.ts"
import * as RequestPath from "./requests/RequestPath.ts"

/** Delay before a `429`, so that clients that retry at once cost little. */
const refusalDelay = "500 millis"

/** The methods of the API. Other methods do not become metric labels. */
const methods = new Set<string>(["GET", "HEAD", "POST", "PATCH", "DELETE"])

const requests = Metric.counter("inlet_http_requests_total", {
  description: "Answered API requests by method and status"
})

/**
 * The outermost layer of every route: assigns the request id and gives every error the same form, including unknown
 * routes, oversized bodies and bugs.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const methodsOf = yield* AllowedMethods
    const room = yield* AnswerRoom
    const { connectionsPerAddress } = yield* Settings.answers
    const { trustProxy } = yield* Settings.clients
    const { messageBytes } = yield* Settings.limits
    const underWay = new Tally()
    const begin = CurrentAnswer.make()

    /** Counted by the client's network, which a proxy's connections do not show. */
    const counted = Effect.fnUntraced(function* <E, R>(
      answer: CurrentAnswer.Answer,
      handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) {
      const client = answer.owner
      if (connectionsPerAddress > 0 && underWay.of(client) >= connectionsPerAddress) {
        return failure(429, `${connectionsPerAddress} requests from your address are under way; wait for one to end`)
      }
      underWay.add(client, 1)
      answer.whenOver(() => underWay.add(client, -1))
      return yield* handled
    })

    /** An answer without a reservation is small, or is refused here. */
    const roomy = (response: HttpServerResponse.HttpServerResponse, { method }: { readonly method: string }) => {
      const { body } = response
      return body._tag !== "Uint8Array" || method === "HEAD"
        ? Effect.succeed(response)
        : room.reserve(body.contentLength).pipe(
            Effect.as(response),
            Effect.catchTags({
              TooManyRequests: ({ message, retryAfter }) =>
                Effect.succeed(HttpServerResponse.setHeader(failure(429, message), "retry-after", `${retryAfter}`)),
              Unavailable: ({ message }) => Effect.succeed(failure(503, message))
            })
          )
    }

    return (httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const asked = request.headers["x-request-id"]
        const id = asked !== undefined && /^[\w.:-]{1,128}$/.test(asked) ? asked : yield* random.uuidV7()
        const path = RequestPath.of(request.url)
        const url = RequestPath.withSmallIds(request.url)
        const routed =
          url === request.url
            ? httpEffect
            : Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, request.modify({ url }))
        const started = yield* Elapsed.millis
        const largest = BodyLimit.of(request, path, messageBytes)
        const answer = begin(request, ClientAddress.of(request, trustProxy))

        const refused = refusedUnread(request, path, largest)
        const handled =
          refused !== undefined
            ? Effect.succeed(refused)
            : counted(
                answer,
                otherMethod(request, path, methodsOf.of(path)) ??
                  Effect.flatMap(Effect.exit(Patience.ofRequest(routed)), (exit) =>
                    Exit.isFailure(exit) && isUnrouted(exit.cause)
                      ? Effect.succeed(unrouted(request, path, methodsOf.of(path)))
                      : answerOf(exit, path, largest)
                  )
              )
        const response = yield* handled.pipe(
          Effect.flatMap((answered) => roomy(answered, request)),
          Effect.annotateLogs({ request_id: id }),
          Effect.provideService(CurrentAnswer.CurrentAnswer, answer),
          Effect.provideService(Asker, answer.owner),
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largest))
        )

        if (response.status === 429) yield* Effect.sleep(refusalDelay)

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
            duration_ms: (yield* Elapsed.millis) - started
          })
        )
        return response.pipe(
          HttpServerResponse.setHeaders(Object.fromEntries(answer.headers)),
          HttpServerResponse.setHeader("x-request-id", id),
          response.status === 401 && !path.startsWith("/api/demo/")
            ? HttpServerResponse.setHeader("www-authenticate", "Bearer")
            : (same) => same,
          (response.status === 503 || response.status === 429) && response.headers["retry-after"] === undefined
            ? HttpServerResponse.setHeader("retry-after", "5")
            : (same) => same
        )
      })
  }),
  { global: true }
)

const failure = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ error: message }, { status })

/** As HTTP/1.1 demands (RFC 9112, section 3.2). Node keeps the first of several. */
const hasOneHost = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { httpVersion, rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage // The server supports only HTTP/1.1.
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0")
}

/**
 * The `405` of a path that has routes, though none for the method. The router would go on to a route with a parameter in
 * that place, and take `orders` for the id of a domain.
 */
const otherMethod = (request: HttpServerRequest.HttpServerRequest, path: string, allowed: ReadonlyArray<string>) =>
  allowed.length === 0 || allowed.includes(request.method)
    ? undefined
    : Effect.succeed(unrouted(request, path, allowed))

/** The answer to a request that is refused by its header alone. */
const refusedUnread = (request: HttpServerRequest.HttpServerRequest, path: string, largest: number) => {
  const { headers, method } = request
  if (!hasOneHost(request)) return failure(400, "Host: Expected it once")
  if (RequestPath.isDisguised(path)) return unrouted(request, path, [])
  // Nothing decodes it, and compressed mail would be stored as it came.
  if (!/^\s*(?:identity\s*)?$/i.test(headers["content-encoding"] ?? "")) {
    return failure(400, "Content-Encoding: Expected none. Send the body uncompressed")
  }
  if (Number(headers["content-length"] ?? 0) > largest && !BodyLimit.isIngest(method, path)) {
    return failure(413, BodyLimit.tooLarge(largest))
  }
  return undefined
}

const isUnrouted = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some(
    (reason) =>
      Cause.isFailReason(reason) &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** Without the token the operator routes do not exist for any method. */
const unrouted = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  path: string,
  allowed: ReadonlyArray<string>
) => {
  // A route for all paths below another knows only some of them.
  if (allowed.length === 0 || allowed.includes(method) || path.startsWith("/admin/")) {
    const isForPeople = NotFoundPage.isWanted({ accept: headers.accept, method, path })
    return HttpServerResponse.setHeader(
      isForPeople ? PageFrame.answer(NotFoundPage.page, 404) : failure(404, NotFoundPage.noRoute),
      "vary",
      "accept"
    )
  }
  const list = allowed.join(", ")
  return failure(405, `This route does not take ${method}, only ${list}`).pipe(
    HttpServerResponse.setHeader("allow", list)
  )
}

const answerOf = Effect.fnUntraced(function* (
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>,
  path: string,
  largest: number
) {
  if (Exit.isSuccess(exit)) {
    const { body, headers, status } = exit.value
    const isOurs =
      body._tag !== "Empty" && (headers["content-type"] ?? body.contentType)?.startsWith("application/json")
    if (status < 400 || isOurs === true) return exit.value
    // Another content type counts as a body of the wrong form.
    if (status === 415) return failure(400, wrongType(path))
    return failure(status, words[status] ?? "The request failed")
  }
  if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isSome(error) && SqlError.isSqlError(error.value) && isUnreachable(error.value)) {
    return yield* DatabaseErrors.answer(error.value)
  }
  const reasons = exit.cause.reasons.flatMap((reason) =>
    Cause.isFailReason(reason) ? [reason.error] : Cause.isDieReason(reason) ? [reason.defect] : []
  )
  if (reasons.some(isOversized)) return failure(413, BodyLimit.tooLarge(largest))
  const [response] = yield* HttpServerError.causeResponse(exit.cause)
  if (response.status < 500) return failure(response.status, words[response.status] ?? "The request failed")
  yield* Effect.logError("A request failed", exit.cause)
  return failure(500, "internal error")
})

const wrongType = (path: string) =>
  `Content-Type: Expected application/json${path.endsWith("/simulate") ? ", or message/rfc822 for a whole message" : ""}`

const words: Record<number, string> = {
  400: "The request is not valid HTTP or JSON",
  404: NotFoundPage.noRoute
}

/** A body that exceeded the limit while it was read. */
const isOversized = (reason: unknown): boolean =>
  HttpServerError.isHttpServerError(reason) &&
  reason.reason._tag === "RequestParseError" &&
  String(reason.reason.cause).includes("maxBytes")
