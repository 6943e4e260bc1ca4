import { Schema } from "effect"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { RuleInForce } from "../model/SenderRule.ts"
import type { SpamAction } from "../model/Spam.ts"
import type { Route } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"

/** A recipient accepted with 250. */
export interface Recipient {
  /** The local part as sent, the domain in canonical form. */
  readonly address: string
  readonly domain: DomainName
  readonly domainId: DomainId
  /** Null for a demo inbox. */
  readonly workspaceId: WorkspaceId | null
  /** The webhook that takes its event. */
  readonly route: Route
  /** The sender rules of its domain. */
  readonly rules: ReadonlyArray<RuleInForce>
  /** What its domain does with spam and viruses. */
  readonly spamAction: SpamAction
}

/** The domain accepts no mail here: unknown, unverified, or removed or disabled during the transaction. */
export class UnknownDomain extends Schema.TaggedError<UnknownDomain>()("UnknownDomain", {}) {}

/** The domain is disabled. Senders get the reply of an unknown one. */
export class DisabledDomain extends Schema.TaggedError<DisabledDomain>()("DisabledDomain", {}) {}

/** A webhook with the action `reject` takes this recipient. */
export class RejectedRoute extends Schema.TaggedError<RejectedRoute>()("RejectedRoute", { pattern: Schema.String }) {}

/** A sender rule of the domain rejects the envelope or the client's network. */
export class SenderRejected extends Schema.TaggedError<SenderRejected>()("SenderRejected", {}) {}

/** Workspaces have reached their daily limit. */
export class QuotaReached extends Schema.TaggedError<QuotaReached>()("QuotaReached", {
  limit: Schema.Int,
  workspaceIds: Schema.Array(WorkspaceId)
}) {}

/** The client has reached its daily limit. */
export class SenderQuotaReached extends Schema.TaggedError<SenderQuotaReached>()("SenderQuotaReached", {
  limit: Schema.Int
}) {}

/** The demo inbox has reached its limit. */
export class DemoFull extends Schema.TaggedError<DemoFull>()("DemoFull", {}) {}
