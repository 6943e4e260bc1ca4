import { Effect, Layer } from "effect"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import { ParserThreads } from "../../src/reading/ParserThreads.ts"
import type { Depth } from "../../src/reading/ReadTask.ts"
import { RequestReader } from "../../src/reading/RequestReader.ts"
import { ThreadLimits } from "../../src/reading/ThreadLimits.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const inboundEmailId = InboundEmailId.make("01981c9e-1111-7000-8000-000000000001")

/** Parses a message of a tenant in a parser thread, for one recipient. */
export const read = Effect.fnUntraced(function* (message: Uint8Array, depth: Depth = "full", tenant = "tenant") {
  const threads = yield* ParserThreads
  const result = yield* threads
    .read(
      tenant,
      {
        kind: "read",
        depth,
        inboundEmailId,
        rawRef: rawRef(domainId, inboundEmailId),
        domain: DomainName.make("example.com"),
        envelope: { from: "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
        recipients: [
          {
            eventId: EventId.make("01981c9e-2222-7000-8000-000000000001"),
            address: "a@example.com",
            route: { id: catchAllOf(domainId), pattern: catchAll, action: "webhook" }
          }
        ],
        isRepeated: false,
        receivedAt: "2026-01-31T12:00:00.007Z",
        sha256: new Uint8Array(32),
        rules: [],
        verdicts: null
      },
      // The bytes are transferred to the thread.
      Uint8Array.from(message),
      Effect.sync(() => Uint8Array.from(message))
    )
    .pipe(Effect.mapError(({ message }) => message))
  return { ...result, event: JSON.parse(Buffer.from(result.payloads[0] ?? new Uint8Array()).toString()) }
})

/** Parser threads with other limits. */
export const threads = (limits: Partial<ThreadLimits> = {}) =>
  Layer.provide(
    Layer.merge(ParserThreads.layer, RequestReader.layer),
    Layer.effect(
      ThreadLimits,
      Effect.map(ThreadLimits, (usual) => ({ ...usual, ...limits }))
    )
  )
