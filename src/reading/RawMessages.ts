import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import { type InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { RawStore } from "../providers/RawStore.ts"
import * as Mime from "./Mime.ts"

/** The stored message behind an event. */
export class RawMessages extends Context.Service<
  RawMessages,
  {
    get(domainId: DomainId, eventId: EventId): Effect.Effect<Uint8Array, NotFound>
    /** One attachment, decoded; `index` is the one its event gives. */
    attachment(
      domainId: DomainId,
      eventId: EventId,
      index: number
    ): Effect.Effect<
      { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array },
      NotFound
    >
  }
>()("inlet/reading/RawMessages") {
  static readonly layer = Layer.effect(
    RawMessages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const raw = yield* RawStore

      const get = Effect.fn("RawMessages.get")(
        function* (domainId: DomainId, eventId: EventId) {
          const [row] = yield* sql<{ readonly inboundEmailId: InboundEmailId }>`
          SELECT inbound_email_id FROM events WHERE id = ${eventId} AND domain_id = ${domainId}
        `
          if (row === undefined) return yield* new NotFound({ message: "No such event at this domain" })
          return yield* raw.get(rawRef(domainId, row.inboundEmailId))
        },
        Effect.catchTags({ SqlError: Effect.die, RawStoreError: Effect.die })
      )

      const attachment = Effect.fn("RawMessages.attachment")(function* (
        domainId: DomainId,
        eventId: EventId,
        index: number
      ) {
        const part = yield* Mime.attachment(yield* get(domainId, eventId), index)
        return part ?? (yield* new NotFound({ message: "This event has no attachment with that index" }))
      })

      return RawMessages.of({ get, attachment })
    })
  )
}
