import { Context, type Effect, type Redacted, Schema, type Scope } from "effect"

/** What the authority must find at the host, until it has confirmed it. */
export interface Challenge {
  readonly host: string
  readonly token: string
  /** The text at `/.well-known/acme-challenge/<token>`, or the value of the TXT record at `_acme-challenge.<host>`. */
  readonly answer: string
}

/** The host could not be prepared for the authority's look. The message says what to do. */
export class NotProven extends Schema.TaggedError<NotProven>()("NotProven", { message: Schema.String }) {}

/**
 * The authority refused the account or the order, or found another answer at the host, which is the step without a name.
 * `type` is that of RFC 8555, section 6.7, such as `dns`.
 */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  type: Schema.String,
  step: Schema.optionalKey(Schema.Literals(["account", "order"])),
  message: Schema.String
}) {}

/** The authority takes no order for now, for some seconds if it says so. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  message: Schema.String,
  retryAfterSeconds: Schema.NullOr(Schema.Int)
}) {}

/** The authority does not answer, or not in time. The order may be under way. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  message: Schema.String,
  retryAfterSeconds: Schema.NullOr(Schema.Int)
}) {}

export type OrderError = NotProven | Refused | RateLimited | Unreachable

export interface Order {
  readonly host: string
  /** The private key of the account, as PEM. An unknown account is made. */
  readonly accountKey: Redacted.Redacted
  /** The private key of the certificate, as PEM. */
  readonly key: Redacted.Redacted
  /** An earlier order with the same keys, which is continued if the authority still has it. */
  readonly earlier: string | null
  /** Is told the URL of a new order before the host is proven. */
  begun(url: string): Effect.Effect<void>
  /** Prepares the host for the authority's look. What it made is removed with the scope. */
  prove(challenge: Challenge): Effect.Effect<void, NotProven, Scope.Scope>
}

/** Issues certificates for host names. */
export class CertificateAuthority extends Context.Service<
  CertificateAuthority,
  {
    /** The certificate and its chain as PEM, the certificate first. Waits at most minutes. */
    issue(order: Order): Effect.Effect<string, OrderError>
  }
>()("inlet/providers/authority/CertificateAuthority") {}
