import { Context, type Effect, Schema } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import { type OrderId, RegistrarName } from "../../model/Order.ts"

/** The name has another owner, so certainly nothing was registered. */
export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", {}) {}

/** The vendor refused and did nothing. `message` is the vendor's, without credentials. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/**
 * No answer or an undecodable one. The request may have been executed. `isAccepted` if it was, and the registry
 * registers the name later: then `register` is not called again, and `holds` is asked until it is true, for 14 days.
 * `holds` may fail with it too, while the account shows the request.
 */
export class Uncertain extends Schema.TaggedError<Uncertain>()("Uncertain", {
  message: Schema.String,
  isAccepted: Schema.optionalKey(Schema.Literal(true))
}) {}

export class RegistrarError extends Schema.TaggedError<RegistrarError>()("RegistrarError", {
  registrar: RegistrarName,
  reason: Schema.Union([NameTaken, Refused, Uncertain])
}) {}

/**
 * Buys domain names. Names are registrable names, without a subdomain. A step of an order, which is up to three calls,
 * has a minute, and a quote 4.8 s. Later than that counts as `Uncertain`.
 */
export class Registrar extends Context.Service<
  Registrar,
  {
    readonly name: RegistrarName
    /**
     * The wholesale price of each name for one year in US cents, in a term of that many years: some vendors sell the
     * first year below its price. Omits taken and premium names and unsupported TLDs. Idempotent.
     */
    quote(
      names: ReadonlyArray<DomainName>,
      years: number
    ): Effect.Effect<ReadonlyMap<DomainName, number>, RegistrarError>
    /** Whether the account holds the name, for example after a lost answer. Idempotent. */
    holds(name: DomainName): Effect.Effect<boolean, RegistrarError>
    /** Registers the domain at a cost. Call `holds` before a retry. */
    register(options: {
      readonly name: DomainName
      readonly years: number
      readonly orderId: OrderId
    }): Effect.Effect<void, RegistrarError>
  }
>()("inlet/providers/registrar/Registrar") {}
