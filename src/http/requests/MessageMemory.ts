import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { SqlError } from "effect/sql"
import { DataMemory, memoryFull } from "../../intake/DataMemory.ts"
import { Unauthorized, Unavailable } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import * as BodyLimit from "./BodyLimit.ts"
import { CurrentWorkspace } from "./CurrentWorkspace.ts"
import * as DatabaseErrors from "./DatabaseErrors.ts"
import * as RequestPath from "./RequestPath.ts"
import * as WholeBody from "./WholeBody.ts"

/** A request's share of the message memory. */
export class MessageShare extends Context.Service<
  MessageShare,
  {
    /** Reserves more bytes. Returns false beyond the limit. */
    take(bytes: number): boolean
    /** Keeps the bytes reserved until the returned function is called, even if the request has ended. */
    keep(): () => void
    /** Holds the memory until the work is done, even if the request has ended. */
    during<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("inlet/http/MessageShare") {}

/** Counts a request body with the incoming SMTP messages, before its first byte is read. */
export class MessageMemory extends HttpApiMiddleware.Service<
  MessageMemory,
  { requires: CurrentWorkspace; provides: MessageShare }
>()("inlet/http/MessageMemory", {
  error: [Unauthorized.http, Unavailable.http]
}) {
  static readonly layer = Layer.effect(
    MessageMemory,
    Effect.gen(function* () {
      const memory = yield* DataMemory
      const { messageBytes } = yield* Settings.smtp

      return MessageMemory.of((httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const { id } = yield* CurrentWorkspace
          const most = BodyLimit.of(request, RequestPath.of(request.url), messageBytes)
          const told = Number(request.headers["content-length"] ?? Number.NaN)
          const share = memory.enter(id)
          let users = 0
          const during = <A, E, R>(work: Effect.Effect<A, E, R>) =>
            Effect.acquireUseRelease(
              Effect.sync(() => users++),
              () => work,
              () =>
                Effect.sync(() => {
                  if (--users === 0) share.leave()
                })
            )
          const room = Effect.suspend(() =>
            share.take(Number.isNaN(told) ? most : Math.min(told, most)) ? Effect.void : memoryFull
          )
          const counted = Effect.andThen(
            Effect.andThen(room, WholeBody.read),
            Effect.provideService(httpEffect, MessageShare, { take: share.take, keep: share.keep, during })
          )
          return yield* Effect.catchIf(during(counted), SqlError.isSqlError, (error) => DatabaseErrors.answer(error))
        })
      )
    })
  )
}
