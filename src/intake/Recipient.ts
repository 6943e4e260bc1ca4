import { Schema } from "effect"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** A recipient that was answered 250. */
export interface Recipient {
  /** The local part as sent, the domain in canonical form. */
  readonly address: string
  readonly domain: DomainName
  readonly domainId: DomainId
  /** Null for a demo inbox. */
  readonly workspaceId: WorkspaceId | null
}

/** The domain is not one that takes mail here: unknown, unverified, disabled or deleted. */
export class UnknownDomain extends Schema.TaggedError<UnknownDomain>()("UnknownDomain", {}) {}

/** The workspace has had its messages for today. */
export class QuotaReached extends Schema.TaggedError<QuotaReached>()("QuotaReached", { limit: Schema.Int }) {}

/** The client has sent its messages for today. */
export class SenderQuotaReached extends Schema.TaggedError<SenderQuotaReached>()("SenderQuotaReached", {
  limit: Schema.Int
}) {}

/** The demo inbox has had all the mails it takes. */
export class DemoFull extends Schema.TaggedError<DemoFull>()("DemoFull", {}) {}
