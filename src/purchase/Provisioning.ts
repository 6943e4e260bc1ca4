import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PurchasedRows from "../domains/PurchasedRows.ts"
import { Verification } from "../domains/Verification.ts"

/** Bought domains are verified automatically: DNS is queried until it has propagated (spec, section 3). */
export class Provisioning extends Context.Service<
  Provisioning,
  {
    /** Queries DNS for the bought domains that are due, up to 16 of them. The delays double from 5 s to 1 h. */
    readonly verifyDue: Effect.Effect<void>
  }
>()("inlet/purchase/Provisioning") {
  static readonly layer = Layer.effect(
    Provisioning,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const verification = yield* Verification

      const claim = PurchasedRows.claimUnverified(sql)

      const verifyDue = Effect.gen(function* () {
        const due = yield* claim()
        yield* Effect.forEach(
          due,
          (owned) =>
            verification.verify(owned).pipe(
              Effect.flatMap(({ domain, status }) => Effect.logInfo(`${domain} is ${status}`)),
              Effect.catch(({ message }) => Effect.logInfo("A bought domain is not verified yet", message))
            ),
          { concurrency: 4, discard: true }
        )
      }).pipe(Effect.orDie)

      return Provisioning.of({ verifyDue })
    })
  )
}
