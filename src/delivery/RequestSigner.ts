import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as OpenedSecrets from "./OpenedSecrets.ts"
import type { SigningSecrets } from "./WebhookSigner.ts"
import * as WebhookSigner from "./WebhookSigner.ts"

/** The request that a webhook would get of an event. */
export const SignedRequest = Schema.Struct({
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description: "all that the request of a webhook has, signed for exactly this body with the time of the answer"
  }),
  body: Schema.String.annotate({ description: "the body of the request, to be sent as it is, in UTF-8" })
}).annotate({ identifier: "SignedRequest" })
export type SignedRequest = typeof SignedRequest.Type

/** What a request weighs as JSON, for each byte of its body: escaping doubles it at most. */
export const growth = 2

/** Signs for who makes the requests of a webhook himself, with the secrets of the workspace. */
export class RequestSigner extends Context.Service<
  RequestSigner,
  {
    /** What makes requests of the events of a workspace, by the secrets that it has now. It stamps each when it is called. */
    of(workspaceId: WorkspaceId): Effect.Effect<(event: Signable) => SignedRequest>
    /** The same with secrets that are open. */
    with(secrets: SigningSecrets): (event: Signable) => SignedRequest
  }
>()("inlet/delivery/RequestSigner") {
  static readonly layer = Layer.effect(
    RequestSigner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const opened = yield* OpenedSecrets.make

      const signed: RequestSigner["Service"]["with"] =
        (secrets) =>
        ({ id, payload }) => ({
          headers: WebhookSigner.headersOf({
            eventId: id,
            body: Buffer.from(payload),
            secrets,
            seconds: Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
          }),
          body: payload
        })

      const of = Effect.fn("RequestSigner.of")(function* (workspaceId: WorkspaceId) {
        const [sealed] = yield* sql<{
          readonly signingSecret: Uint8Array
          readonly previousSigningSecret: Uint8Array | null
        }>`
          SELECT signing_secret,
            CASE WHEN previous_secret_until > now() THEN previous_signing_secret END AS previous_signing_secret
          FROM workspaces WHERE id = ${workspaceId}
        `
        if (sealed === undefined) return yield* Effect.die("The workspace of this request is gone")
        return signed(yield* opened.open({ ...sealed, workspaceId }))
      }, Effect.orDie)

      return RequestSigner.of({ of, with: signed })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}

interface Signable {
  readonly id: EventId
  readonly payload: string
}
