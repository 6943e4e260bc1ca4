import { Context, type Effect, Schema } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import { type OrderId, RegistrarName } from "../../model/Order.ts"

/** The name has another owner: for certain nothing was registered. */
export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", {}) {}

/** The vendor refused and did nothing. `message` is the vendor's, without credentials. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** No answer, or none that can be understood: the request may have been carried out all the same. */
export class Uncertain extends Schema.TaggedError<Uncertain>()("Uncertain", { message: Schema.String }) {}

export class RegistrarError extends Schema.TaggedError<RegistrarError>()("RegistrarError", {
  registrar: RegistrarName,
  reason: Schema.Union([NameTaken, Refused, Uncertain])
}) {}

/** Where domain names are bought. Names are registrable names, without a subdomain. */
export class Registrar extends Context.Service<
  Registrar,
  {
    readonly name: RegistrarName
    /**
     * The wholesale price of each name for one year in US cents. A name that is
     * taken, premium, or of a TLD that is not sold is left out. Safe to repeat.
     */
    quote(names: ReadonlyArray<DomainName>): Effect.Effect<ReadonlyMap<DomainName, number>, RegistrarError>
    /** Whether our account holds the name, such as after a registration whose answer was lost. Safe to repeat. */
    holds(name: DomainName): Effect.Effect<boolean, RegistrarError>
    /** Registers the domain at a cost. Call `holds` before a repetition. */
    register(options: {
      readonly name: DomainName
      readonly years: number
      readonly orderId: OrderId
    }): Effect.Effect<void, RegistrarError>
  }
>()("inlet/providers/registrar/Registrar") {}
