import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { type SigningFailed, type SigningSecrets, WebhookSigner } from "../providers/signing/WebhookSigner.ts"
import { OpenedSecrets } from "./OpenedSecrets.ts"
import * as RequestHeaders from "./RequestHeaders.ts"

/** The webhook request of an event. */
export const SignedRequest = Schema.Struct({
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description: "the headers of the webhook request, signed for this body at the time of the answer"
  }),
  body: Schema.String.annotate({ description: "the request body in UTF-8. Send it unchanged" })
}).annotate({ identifier: "SignedRequest" })
export type SignedRequest = typeof SignedRequest.Type

/** The size of a request as JSON, as a multiple of its body: escaping doubles it at most. */
export const growth = 2

/** Signs one event, stamped with the time of the call. */
export type SignEvent = (event: {
  readonly id: EventId
  readonly payload: string
}) => Effect.Effect<SignedRequest, SigningFailed>

/** Signs webhook requests for pull clients and signed streams, with the workspace's secrets. */
export class RequestSigner extends Context.Service<
  RequestSigner,
  {
    /** Decrypts the current secrets of a workspace to sign its events. */
    of(workspaceId: WorkspaceId): Effect.Effect<SignEvent, SqlError>
    /** Signs the events of a workspace with decrypted secrets. */
    with(workspaceId: WorkspaceId, secrets: SigningSecrets): SignEvent
  }
>()("inlet/delivery/RequestSigner") {
  static readonly layer = Layer.effect(
    RequestSigner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const signer = yield* WebhookSigner
      const opened = yield* OpenedSecrets

      const signed: RequestSigner["Service"]["with"] =
        (workspaceId, secrets) =>
        ({ id, payload }) =>
          Effect.suspend(() =>
            signer.sign({
              workspaceId,
              eventId: id,
              body: Buffer.from(payload),
              secrets,
              seconds: Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
            })
          ).pipe(Effect.map((signature) => ({ headers: RequestHeaders.of(signature), body: payload })))

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
        return signed(workspaceId, yield* opened.open({ ...sealed, workspaceId }))
      })

      return RequestSigner.of({ of, with: signed })
    })
  ).pipe(Layer.provide(OpenedSecrets.layer))
}
