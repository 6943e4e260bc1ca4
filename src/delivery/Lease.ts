import { Duration, Effect, Schema } from "effect"
import { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import { WebhookId } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"

/** The right of this process to one attempt of a delivery, until the lease ends. */
export interface Lease {
  readonly eventId: EventId
  readonly domainId: DomainId
  readonly webhookId: WebhookId
  /** Counts across replays. Excludes a worker that lost its lease. */
  readonly attempt: number
  /** The number of this attempt since the last replay. */
  readonly attemptOfBudget: number
  readonly url: string
  /** The format and the encrypted credentials at the claim. A failure with others does not count. */
  readonly format: string
  readonly credentials: Uint8Array | null
}

/** A leased delivery from the database, with encrypted secrets. */
export const SealedDelivery = Schema.Struct({
  eventId: EventId,
  domainId: DomainId,
  webhookId: WebhookId,
  attempts: Schema.Int,
  spent: Schema.Int,
  /** True if another worker's lease on it expired. */
  takenOver: Schema.Boolean,
  url: Schema.String,
  format: Schema.String,
  credentials: Schema.NullOr(Schema.Uint8Array),
  /** UTF-8. */
  payload: Schema.Uint8Array,
  workspaceId: WorkspaceId,
  /** True if the secrets belong to the webhook. */
  hasOwnSecret: Schema.Boolean,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})
export type SealedDelivery = typeof SealedDelivery.Type

/** The columns that every claim returns. */
export type Claimed = Pick<
  SealedDelivery,
  "attempts" | "credentials" | "domainId" | "eventId" | "format" | "spent" | "takenOver" | "url" | "webhookId"
>

/** A pulled delivery, with encrypted secrets. */
export const SealedPull = Schema.Struct({
  eventId: EventId,
  domainId: DomainId,
  webhookId: WebhookId,
  attempts: Schema.Int,
  spent: Schema.Int,
  takenOver: Schema.Boolean,
  url: Schema.String,
  format: Schema.String,
  credentials: Schema.NullOr(Schema.Uint8Array),
  /** Bytes of the payload and of those before it in the claim. */
  bytes: Schema.Int,
  bytesBefore: Schema.Int,
  /** Null for a large payload, which is loaded while the answer is written. */
  payload: Schema.NullOr(Schema.String),
  leasedUntil: Schema.DateTimeUtcFromDate,
  workspaceId: WorkspaceId,
  /** True if the secrets belong to the webhook. */
  hasOwnSecret: Schema.Boolean,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})
export type SealedPull = typeof SealedPull.Type

/** Takes the place of the URL in attempts of pulled deliveries. */
export const pull = "pull"

export const of = (row: Claimed): Lease => ({
  eventId: row.eventId,
  domainId: row.domainId,
  webhookId: row.webhookId,
  attempt: row.attempts,
  attemptOfBudget: Math.max(row.attempts - row.spent, 1),
  url: row.url,
  format: row.format,
  credentials: row.credentials
})

/** Names an attempt in log lines. */
export const inLogs = ({ attempt, domainId, eventId, webhookId }: Lease) =>
  Effect.annotateLogs({ event_id: eventId, domain_id: domainId, webhook_id: webhookId, attempt })

/** A leased delivery with everything its request needs. */
export interface LeasedDelivery extends Lease {
  readonly workspaceId: WorkspaceId
  readonly payload: Uint8Array
  readonly secrets: SigningSecrets
}

/** Duration of a lease: the request timeout plus time before and after the request. */
export const seconds = (timeout: Duration.Duration) => Math.max(60, Duration.toSeconds(timeout) + 30)
