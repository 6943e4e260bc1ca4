import type { DomainId, DomainName } from "../model/Domain.ts"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import type { Authentication, EventId } from "../model/InboundEvent.ts"
import type { RuleInForce } from "../model/SenderRule.ts"
import type { SpamAction } from "../model/Spam.ts"
import type { Route } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type { Place } from "../providers/storage/Place.ts"

/** Demo inboxes share the parser threads as one tenant. */
export const demoTenant = "demo"

/** The tenant charged for parsing a mail. */
export const tenantOf = ({ workspaceId }: Pick<Mail, "workspaceId">): string => workspaceId ?? demoTenant

/** A recipient of a message, with the webhook that takes its event. */
export interface MailRecipient {
  readonly eventId: EventId
  readonly address: string
  readonly route: Route
}

/**
 * One message for one domain, from DATA or its row until its events are written. The same object is used in all
 * stages.
 */
export interface Mail {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly domain: DomainName
  /** Null for a demo inbox. */
  readonly workspaceId: WorkspaceId | null
  readonly envelope: Envelope
  /** Each becomes an event, whose id is assigned here, so that repetitions yield the same event. */
  readonly recipients: ReadonlyArray<MailRecipient>
  /** The number of recipients before these, whose events are written. */
  readonly readRecipients: number
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** Computed over the bytes as received. */
  readonly sha256: Uint8Array
  /** Length of the trace fields before them. */
  readonly traceBytes: number
  /** The sender rules of its domain, those of all its webhooks. */
  readonly rules: ReadonlyArray<RuleInForce>
  /** What its domain does with spam and viruses. */
  readonly spamAction: SpamAction
  /** Given verdicts about the sender, or null if the sender is checked. */
  readonly verdicts: Authentication | null
  /**
   * The stored raw message with its trace fields, in memory of its own. Undefined once a parser thread has it, and before
   * the commit for all recipient domains but the first.
   */
  message: Uint8Array | undefined
  /** The position in the log, set once stored. Null for a file or object of its own. */
  place: Place | null
  /** Milliseconds from the end of the message to its commit. Null in a process that did not accept it, or if the clock was set. */
  storedMs: number | null
  readonly bytes: number
  /** Number of times a process started to parse it, including this one, without attempts that were given back. */
  readonly attempt: number
}
