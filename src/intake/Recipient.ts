import { Schema } from "effect"
import type { DomainId, DomainName } from "../model/Domain.ts"
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
}

/** The domain accepts no mail here: unknown, unverified, disabled or removed. */
export class UnknownDomain extends Schema.TaggedError<UnknownDomain>()("UnknownDomain", {}) {}

/** A webhook with the action `reject` takes this recipient. */
export class RejectedRoute extends Schema.TaggedError<RejectedRoute>()("RejectedRoute", { pattern: Schema.String }) {}

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
