import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type Damaged, NotFound, Unavailable } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import { RequestReader } from "../reading/RequestReader.ts"
import * as StoredMessage from "../reading/StoredMessage.ts"
import * as Settings from "../Settings.ts"
import * as ExpiredEvents from "./ExpiredEvents.ts"

/** Reserves memory for this many bytes before they are loaded. */
type Reserve<E> = (bytes: number) => Effect.Effect<void, E>

/** The stored message behind an event. */
export class RawMessages extends Context.Service<
  RawMessages,
  {
    /** As stored, with Inlet's Authentication-Results field in front and without forged ones in its name. */
    get<E>(
      domainId: DomainId,
      eventId: EventId,
      reserve: Reserve<E>
    ): Effect.Effect<Uint8Array, E | Damaged | NotFound | Unavailable | SqlError>
    /** One decoded attachment. `index` is the index in its event. */
    attachment<E>(
      domainId: DomainId,
      eventId: EventId,
      index: number,
      reserve: Reserve<E>
    ): Effect.Effect<
      { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array },
      E | Damaged | NotFound | Unavailable | SqlError
    >
  }
>()("inlet/events/RawMessages") {
  static readonly layer = Layer.effect(
    RawMessages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const raw = yield* RawStore
      yield* StoredMessage.beginCount

      const reader = yield* RequestReader
      const expired = yield* ExpiredEvents.make
      const { mxHost } = yield* Settings.reading
      const { messageBytes } = yield* Settings.rawStore

      const stored = Effect.fn("RawMessages.stored")(function* <E>(
        domainId: DomainId,
        eventId: EventId,
        reserve: Reserve<E>
      ) {
        const row = yield* StoredMessage.find(sql, domainId, eventId)
        if (row === undefined) return yield* expired.missing(eventId, ExpiredEvents.notAtDomain)
        yield* reserve(row.kept.place?.bytes ?? messageBytes)
        const message = yield* StoredMessage.load(raw, row.kept).pipe(
          Effect.catchTag("RawStoreError", (error) =>
            Effect.andThen(
              Effect.logError("The raw message store failed", error),
              Effect.fail(
                new Unavailable({
                  message: "The raw message store does not answer. Retry in 5 s"
                })
              )
            )
          )
        )
        return { field: row.authenticationResults, message }
      })

      const get = Effect.fn("RawMessages.get")(function* <E>(
        domainId: DomainId,
        eventId: EventId,
        reserve: Reserve<E>
      ) {
        const { field, message } = yield* stored(domainId, eventId, reserve)
        return yield* reader.authenticated(message, { authenticationResults: field, authservId: mxHost })
      })

      const attachment = Effect.fn("RawMessages.attachment")(function* <E>(
        domainId: DomainId,
        eventId: EventId,
        index: number,
        reserve: Reserve<E>
      ) {
        const { message } = yield* stored(domainId, eventId, reserve)
        const part = yield* reader.attachment(message, index)
        return (
          part ??
          (yield* new NotFound({
            message: "This event has no attachment with that index. Its `attachments` name each index"
          }))
        )
      })

      return RawMessages.of({ get, attachment })
    })
  ).pipe(Layer.provide(RequestReader.layer))
}
