import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Unavailable } from "../model/ApiError.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type { SigningFailed, SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import * as Claims from "./Claims.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import { OpenedSecrets } from "./OpenedSecrets.ts"
import * as RequestHeaders from "./RequestHeaders.ts"
import * as SigningInTime from "./SigningInTime.ts"

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

/** The answer to a request for a signature that there is not. */
export const unavailable = (error: SigningFailed) =>
  Effect.andThen(
    Effect.logError("A webhook request could not be signed", error),
    new Unavailable({ message: `The event could not be signed: ${error.message}. Retry in a minute` })
  )

/** Signs one event, stamped with the time of the call. */
export type SignEvent = (event: {
  readonly id: EventId
  readonly payload: string
  /** Those of a format. The content is JSON without them. */
  readonly headers?: Readonly<Record<string, string>>
}) => Effect.Effect<SignedRequest, SigningFailed>

/** Signs webhook requests for pull clients, signed streams and tests. */
export class RequestSigner extends Context.Service<
  RequestSigner,
  {
    /** Decrypts the current secrets of a webhook: its own, or those of the workspace, also for a webhook of another. */
    secretsOf(workspaceId: WorkspaceId, webhookId: WebhookId): Effect.Effect<SigningSecrets, SqlError>
    /** Decrypts the current secrets of a webhook to sign its events. */
    of(workspaceId: WorkspaceId, webhookId: WebhookId): Effect.Effect<SignEvent, SqlError>
    /** The same for the webhook of an event. */
    ofEvent(workspaceId: WorkspaceId, eventId: EventId): Effect.Effect<SignEvent, SqlError>
    /** Signs the events of a workspace with decrypted secrets. */
    with(workspaceId: WorkspaceId, secrets: SigningSecrets): SignEvent
  }
>()("inlet/delivery/RequestSigner") {
  static readonly layer = Layer.effect(
    RequestSigner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const sign = yield* SigningInTime.make
      const opened = yield* OpenedSecrets

      const signed: RequestSigner["Service"]["with"] =
        (workspaceId, secrets) =>
        ({ headers, id, payload }) =>
          Effect.suspend(() =>
            sign({
              workspaceId,
              eventId: id,
              body: Buffer.from(payload),
              secrets,
              seconds: Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
            })
          ).pipe(Effect.map((signature) => ({ headers: RequestHeaders.of(signature, headers), body: payload })))

      const find = Effect.fnUntraced(function* (workspaceId: WorkspaceId, webhook: Statement.Fragment) {
        const [sealed] = yield* sql<{
          readonly webhookId: WebhookId
          readonly hasOwnSecret: boolean
          readonly signingSecret: Uint8Array
          readonly previousSigningSecret: Uint8Array | null
        }>`
          SELECT webhooks.id AS webhook_id, ${Claims.secrets(sql, sql.literal("webhooks"))}
          FROM workspaces
          -- Another workspace's webhook would lend its secret.
          LEFT JOIN (webhooks JOIN domains ON domains.id = webhooks.domain_id)
            ON webhooks.id = ${webhook} AND domains.workspace_id = workspaces.id
          WHERE workspaces.id = ${workspaceId}
        `
        if (sealed === undefined) return yield* Effect.die("The workspace of this request is gone")
        return yield* opened.open({ ...sealed, workspaceId })
      })

      return RequestSigner.of({
        secretsOf: Effect.fn("RequestSigner.secretsOf")((workspaceId, webhookId) =>
          find(workspaceId, sql`${webhookId}`)
        ),
        of: Effect.fn("RequestSigner.of")((workspaceId, webhookId) =>
          Effect.map(find(workspaceId, sql`${webhookId}`), (secrets) => signed(workspaceId, secrets))
        ),
        ofEvent: Effect.fn("RequestSigner.ofEvent")((workspaceId, eventId) =>
          Effect.map(
            find(
              workspaceId,
              sql`(SELECT ${DeliveryRows.ofDelivery(sql)} FROM deliveries WHERE event_id = ${eventId})`
            ),
            (secrets) => signed(workspaceId, secrets)
          )
        ),
        with: signed
      })
    })
  ).pipe(Layer.provide(OpenedSecrets.layer))
}
