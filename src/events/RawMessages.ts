import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, Unavailable } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import { type InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as Place from "../providers/storage/Place.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as AuthenticationResults from "../reading/AuthenticationResults.ts"
import { ParserThreads } from "../reading/ParserThreads.ts"
import * as Settings from "../Settings.ts"

/** The stored message behind an event. */
export class RawMessages extends Context.Service<
  RawMessages,
  {
    /** As stored, with our Authentication-Results field in front and none that a sender wrote in our name. */
    get(domainId: DomainId, eventId: EventId): Effect.Effect<Uint8Array, NotFound | Unavailable>
    /** One attachment, decoded; `index` is the one its event gives. */
    attachment(
      domainId: DomainId,
      eventId: EventId,
      index: number
    ): Effect.Effect<
      { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array },
      NotFound | Unavailable
    >
  }
>()("inlet/events/RawMessages") {
  static readonly layer = Layer.effect(
    RawMessages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const raw = yield* RawStore

      const threads = yield* ParserThreads
      const { mxHost } = yield* Settings.reading

      const stored = Effect.fn("RawMessages.stored")(
        function* (domainId: DomainId, eventId: EventId) {
          const [row] = yield* sql<
            Place.Columns & { readonly id: InboundEmailId; readonly authenticationResults: string | null }
          >`
            SELECT inbound_emails.id, inbound_emails.authentication_results, segment, raw_at, raw_bytes
            FROM events JOIN inbound_emails ON inbound_emails.id = events.inbound_email_id
            WHERE events.id = ${eventId} AND events.domain_id = ${domainId}
          `
          if (row === undefined) return yield* new NotFound({ message: "No such event at this domain" })
          const message = yield* raw.get(rawRef(domainId, row.id), Place.ofColumns(row))
          return { field: row.authenticationResults, message }
        },
        Effect.catchTags({
          SqlError: Effect.die,
          RawStoreError: (error) =>
            Effect.andThen(
              Effect.logError("The store of raw messages failed", error),
              Effect.fail(
                new Unavailable({ message: "The store of raw messages is out of reach; try again in a moment" })
              )
            )
        })
      )

      const get = Effect.fn("RawMessages.get")(function* (domainId: DomainId, eventId: EventId) {
        const { field, message } = yield* stored(domainId, eventId)
        return AuthenticationResults.put(message, field, mxHost)
      })

      const attachment = Effect.fn("RawMessages.attachment")(function* (
        domainId: DomainId,
        eventId: EventId,
        index: number
      ) {
        const { message } = yield* stored(domainId, eventId)
        const part = yield* threads.attachment(message, index)
        return part ?? (yield* new NotFound({ message: "This event has no attachment with that index" }))
      })

      return RawMessages.of({ get, attachment })
    })
  ).pipe(Layer.provide(ParserThreads.layer))
}
