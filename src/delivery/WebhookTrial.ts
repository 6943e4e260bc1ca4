import { Context, DateTime, Effect, Layer, Record, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { Conflict } from "../model/ApiError.ts"
import type { Domain } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import { catchAllOf, type WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as AnswerAdvice from "./AnswerAdvice.ts"
import { Egress } from "./Egress.ts"
import * as BasicAuth from "./formats/BasicAuth.ts"
import { SealedCredentials } from "./formats/SealedCredentials.ts"
import { RequestSigner, type SignedRequest } from "./RequestSigner.ts"
import * as TestEvent from "./TestEvent.ts"
import * as TestRequest from "./TestRequest.ts"

export const WebhookTestResult = Schema.Struct({
  ok: Schema.Boolean.annotate({ description: "true if the webhook answered 2xx" }),
  event_id: EventId.annotate({ description: "of the test event, which is stored nowhere" }),
  statusCode: Schema.NullOr(Schema.Int).annotate({ description: "null without an answer" }),
  durationMs: Schema.Int,
  error: Schema.NullOr(Schema.String).annotate({ description: "what is wrong, and what to do about it" }),
  responseBody: Schema.NullOr(Schema.String).annotate({ description: "the first KiB" }),
  request: Schema.Struct({
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.String
  }).annotate({ description: "the request that was sent, without the password of the webhook" })
}).annotate({ identifier: "WebhookTestResult" })
export type WebhookTestResult = typeof WebhookTestResult.Type

/** Sends a signed sample event to a webhook at once, outside of the delivery queue. */
export class WebhookTrial extends Context.Service<
  WebhookTrial,
  {
    /** Makes one request. Succeeds with any outcome. Fails with Conflict if the webhook has no URL. */
    run(
      workspaceId: WorkspaceId,
      domain: Domain,
      webhook: { readonly id: WebhookId; readonly pattern: string; readonly url: string | null }
    ): Effect.Effect<WebhookTestResult, Conflict | SqlError>
  }
>()("inlet/delivery/WebhookTrial") {
  static readonly layer = Layer.effect(
    WebhookTrial,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const egress = yield* Egress
      const signer = yield* RequestSigner
      const inFormat = yield* TestRequest.make

      const run = Effect.fn("WebhookTrial.run")(function* (
        workspaceId: WorkspaceId,
        domain: Domain,
        { id: webhookId, pattern, url }: Parameters<WebhookTrial["Service"]["run"]>[2]
      ) {
        if (url === null) {
          return yield* new Conflict({
            message:
              webhookId === catchAllOf(domain.id)
                ? "This domain has no webhook. Set one with PATCH /api/domains/{id}/delivery"
                : "This webhook has no URL. Give it one with PATCH /api/domains/{id}/webhooks/{webhookId}"
          })
        }
        if (domain.status === "disabled") {
          return yield* new Conflict({ message: `${domain.domain} is disabled: ${domain.disabled_reason}` })
        }
        const id = EventId.make(yield* random.uuidV7())
        const now = yield* DateTime.now
        const payload = TestEvent.payload({ id, domainId: domain.id, domain: domain.domain, webhookId, pattern, now })
        const secrets = yield* signer.secretsOf(workspaceId, webhookId)
        const sign = signer.with(workspaceId, secrets)
        const started = yield* Elapsed.millis
        const unsent = (message: string) => Effect.succeed([{ headers: {}, body: payload }, message] as const)
        const [request, outcome] = yield* inFormat({ id: webhookId, url }, { id, payload }, secrets).pipe(
          // The sample has no files, so that every format writes it as text.
          Effect.flatMap(({ body, headers, secrets }) =>
            Effect.map(sign({ id, payload: Buffer.from(body).toString(), headers }), (signed) => ({
              ...signed,
              secrets
            }))
          ),
          Effect.flatMap(({ body, headers, secrets }) =>
            Effect.map(
              Effect.result(egress.send({ url, headers: { ...headers }, body: Buffer.from(body) })),
              (outcome) => [shownOf({ body, headers }, secrets), outcome] as const
            )
          ),
          Effect.catchTags({
            SigningFailed: ({ message }) => unsent(`The request could not be signed: ${message}`),
            Unmade: ({ message }) => unsent(`No request was made: ${message}. Choose another format`)
          })
        )
        const durationMs = (yield* Elapsed.millis) - started
        const common = { event_id: id, durationMs, request }
        if (typeof outcome === "string") return { ...common, ...unanswered, error: outcome }
        if (outcome._tag === "Failure") {
          const { message } = outcome.failure
          const advice = AnswerAdvice.of({ statusCode: null, error: message })
          return { ...common, ...unanswered, error: `${message}. ${advice}` }
        }
        const { body, location, statusCode } = outcome.success
        return {
          ...common,
          ok: statusCode >= 200 && statusCode < 300,
          statusCode,
          error: problemOf(statusCode, location),
          responseBody: body
        }
      })

      return WebhookTrial.of({ run })
    })
  ).pipe(Layer.provide(SealedCredentials.layer))
}

/** A request as shown to the owner of a webhook: without its password, and without the secrets of its options. */
const shownOf = ({ body, headers }: SignedRequest, secrets: ReadonlyArray<string>) => {
  const without = (text: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "…"), text)
  return { body: without(body), headers: Record.map(BasicAuth.hidden(headers), without) }
}

const unanswered = { ok: false, statusCode: null, responseBody: null }

/** Explains an answer and says how to correct it. Null for 2xx. */
const problemOf = (statusCode: number, location: string | null): string | null => {
  if (statusCode >= 200 && statusCode < 300) return null
  const target = location === null ? "" : ` to ${location.slice(0, 200).toWellFormed()}`
  const seen =
    statusCode >= 300 && statusCode < 400 ? `Your endpoint redirects${target}` : `Your endpoint answered ${statusCode}`
  return `${seen}. ${AnswerAdvice.of({ statusCode, error: null })}`
}
