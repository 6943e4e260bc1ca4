import { Context, type Redacted } from "effect"
import type { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import type { SigningSecrets } from "../../providers/signing/WebhookSigner.ts"
import type { RawOptions } from "./RawOptions.ts"

/** An attachment with its bytes. */
export interface MailPart {
  readonly filename: string | null
  readonly contentType: string
  /** With its angle brackets, if the mail has them. */
  readonly contentId: string | null
  readonly disposition: string | null
  readonly content: Uint8Array
}

/** A mail in the form of its event. */
export interface DeliveredEvent {
  readonly eventId: EventId
  /** The bytes of the event, as posted in Inlet's own format. */
  readonly payload: Uint8Array
  readonly event: InboundEvent
}

/** A mail with its raw message: `X-Original-To`, Inlet's trace fields, and the bytes as received without claims. */
export interface DeliveredMessage extends DeliveredEvent {
  readonly message: Uint8Array
}

/** A mail with its attachments. `message` is valid UTF-8. */
export interface DeliveredParts extends DeliveredMessage {
  /**
   * The text as mail libraries have it: without delivery reports, and with the whitespace at the ends of
   * quoted-printable lines, which the event's text does not have.
   */
  readonly text: string
  readonly parts: ReadonlyArray<MailPart>
}

/** The credentials of a webhook. */
export interface Credentials {
  readonly user?: string
  readonly password?: Redacted.Redacted
  readonly signingKey?: Redacted.Redacted
  /** Options of the format `raw`, whose headers and fields may have secrets. */
  readonly raw?: Redacted.Redacted<RawOptions>
}

/** The circumstances of one attempt. */
export interface Stamp {
  /** The time of the attempt, in seconds since 1970. */
  readonly seconds: number
  /** Counts across replays, from 1. */
  readonly attempt: number
  /** 32 random bytes, fresh for each attempt. */
  readonly random: Uint8Array
  readonly credentials: Credentials
  readonly secrets: SigningSecrets
}

/** A request without the headers that Inlet adds: signatures, `Authorization` and `User-Agent`. */
export interface FormatRequest {
  /** With `Content-Type`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * How requests to one URL are made, and of what. `message` is the raw message unchanged, `text` the same as valid
 * UTF-8. `make` is pure and synchronous: all that it needs is loaded before. If it throws, the attempt fails.
 */
export type Recipe =
  | { readonly needs: "event"; make(mail: DeliveredEvent, stamp: Stamp): FormatRequest }
  | { readonly needs: "message" | "text"; make(mail: DeliveredMessage, stamp: Stamp): FormatRequest }
  | { readonly needs: "parts"; make(mail: DeliveredParts, stamp: Stamp): FormatRequest }

/** The form of a webhook's deliveries on the wire. */
export class WebhookFormat extends Context.Service<
  WebhookFormat,
  {
    /** The credentials that a webhook in this format can have. */
    readonly takes: { readonly basicAuth: boolean; readonly signingKey: boolean; readonly rawOptions?: boolean }
    /** Statuses beside 410 after which a delivery is dead at once. */
    readonly final: ReadonlySet<number>
    /** The recipe for this URL and these credentials. */
    recipe(url: URL, credentials: Credentials): Recipe
  }
>()("inlet/delivery/formats/WebhookFormat") {}
