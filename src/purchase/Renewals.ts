import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as PurchasedRows from "../domains/PurchasedRows.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { RegistrarName } from "../model/Order.ts"
import { Registrars } from "../providers/registrar/Registrars.ts"
import { StepTime } from "./OrderSteps.ts"

/** Detaches bought domains that the registrar dropped after their term (spec, section 3). */
export class Renewals extends Context.Service<
  Renewals,
  {
    /** Asks the registrar about each bought domain after its term, and disables those it no longer holds. */
    readonly lookAfterTerms: Effect.Effect<void>
  }
>()("inlet/purchase/Renewals") {
  static readonly layer = Layer.effect(
    Renewals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const registrars = yield* Registrars
      const stepTime = yield* StepTime

      const pastTerm = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ id: DomainId, name: DomainName, registrar: RegistrarName }),
        execute: () => sql`
          SELECT id, name, registrar FROM domains
          WHERE origin = 'purchased' AND term_ends_at < now() AND registrar IS NOT NULL
            -- What the operator has disabled still keeps the name from others.
            AND (status <> 'disabled' OR verified_at IS NOT NULL)
        `
      })

      const drop = ({
        id,
        name,
        registrar
      }: {
        readonly id: DomainId
        readonly name: DomainName
        readonly registrar: string
      }) =>
        Effect.andThen(
          PurchasedRows.drop(sql, id, `${registrar} has dropped this name after its term`),
          Effect.logWarning(`${name} is disabled, because ${registrar} dropped it after its term`)
        )

      const lookAfterTerms = Effect.gen(function* () {
        for (const domain of yield* pastTerm()) {
          const vendor = registrars.get(domain.registrar)
          if (vendor === undefined) continue
          const held = yield* vendor.registrar.holds(domain.name).pipe(
            Effect.timeout(stepTime),
            Effect.catch((error) =>
              Effect.as(
                Effect.logWarning(`${domain.registrar} did not say whether ${domain.name} is renewed`, error),
                true
              )
            )
          )
          if (!held) yield* drop(domain)
        }
      }).pipe(Effect.orDie)

      return Renewals.of({ lookAfterTerms })
    })
  )
}
