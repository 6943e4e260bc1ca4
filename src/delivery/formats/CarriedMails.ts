import { Context, type Effect, Schema } from "effect"
import type { DomainId } from "../../model/Domain.ts"
import type { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"
import type { MailPart, Recipe } from "./WebhookFormat.ts"

/** The raw message was removed or is damaged. No later attempt can have it. */
export class MailGone extends Schema.TaggedError<MailGone>()("MailGone", { message: Schema.String }) {}

/** The raw message could not be loaded or parsed now. */
export class MailUnready extends Schema.TaggedError<MailUnready>()("MailUnready", { message: Schema.String }) {}

/** A stored mail to be delivered. */
export interface StoredMail {
  readonly workspaceId: WorkspaceId
  readonly domainId: DomainId
  readonly eventId: EventId
  readonly event: Pick<InboundEvent, "attachments" | "html" | "parse" | "recipient" | "spam">
  /** Bytes of the event. */
  readonly payloadBytes: number
}

/** What formats need of a mail besides its event. `parts` is empty where they need none. */
export interface CarriedMail {
  /** The text for receivers, if it is not the event's. */
  readonly text: string | null
  readonly message: Uint8Array
  readonly parts: ReadonlyArray<MailPart>
}

/** Loads what the formats of webhooks need of a stored mail. `src/reading` has its layer, because that parses. */
export class CarriedMails extends Context.Service<
  CarriedMails,
  {
    /** `reserve` reserves memory before the message is loaded, and is given its size, which may be an estimate. */
    load<E, R>(
      mail: StoredMail,
      needs: Exclude<Recipe["needs"], "event">,
      reserve: (messageBytes: number) => Effect.Effect<void, E, R>
    ): Effect.Effect<CarriedMail, E | MailGone | MailUnready, R>
  }
>()("inlet/delivery/formats/CarriedMails") {}
