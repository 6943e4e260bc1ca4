import { Duration, Schema } from "effect"
import { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"

/** The right of this process to one attempt of a delivery, until the lease ends. */
export interface Lease {
  readonly eventId: EventId
  readonly domainId: DomainId
  /** Numbered on over replays; fences off a worker that lost its lease. */
  readonly attempt: number
  /** Which attempt of the present budget this is. */
  readonly attemptOfBudget: number
  readonly url: string
}

/** A leased delivery as the database gives it, the secrets of its workspace sealed. */
export const SealedDelivery = Schema.Struct({
  eventId: EventId,
  domainId: DomainId,
  attempts: Schema.Int,
  spent: Schema.Int,
  /** Another worker held it before, whose lease ran out. */
  takenOver: Schema.Boolean,
  url: Schema.String,
  /** Text where it comes from the database, bytes where it was just made. */
  payload: Schema.Union([Schema.String, Schema.Uint8Array]),
  workspaceId: WorkspaceId,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})
export type SealedDelivery = typeof SealedDelivery.Type

/** What every claim tells of a delivery. */
export type Claimed = Pick<SealedDelivery, "attempts" | "domainId" | "eventId" | "spent" | "takenOver" | "url">

/** A delivery that was leased to who asked for it, its secrets sealed. */
export const SealedPull = Schema.Struct({
  eventId: EventId,
  domainId: DomainId,
  attempts: Schema.Int,
  spent: Schema.Int,
  takenOver: Schema.Boolean,
  url: Schema.String,
  /** Of the payload, and of those before it in the claim. */
  bytes: Schema.Int,
  bytesBefore: Schema.Int,
  /** Null where it is heavy, and is to be read when it is written. */
  payload: Schema.NullOr(Schema.String),
  leasedUntil: Schema.DateTimeUtcFromDate,
  workspaceId: WorkspaceId,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})
export type SealedPull = typeof SealedPull.Type

/** In the place of a URL: who asked for the delivery posts it somewhere himself. */
export const pull = "pull"

export const of = (row: Claimed): Lease => ({
  eventId: row.eventId,
  domainId: row.domainId,
  attempt: row.attempts,
  attemptOfBudget: Math.max(row.attempts - row.spent, 1),
  url: row.url
})

/** A leased delivery with all that its request needs. */
export interface LeasedDelivery extends Lease {
  readonly workspaceId: WorkspaceId
  readonly payload: Uint8Array
  readonly secrets: SigningSecrets
}

/** How long an attempt is ours: as long as a request may take, and time for what comes before and after it. */
export const seconds = (timeout: Duration.Duration) => Math.max(60, Duration.toSeconds(timeout) + 30)
