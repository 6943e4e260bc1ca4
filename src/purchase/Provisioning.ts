import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PurchasedRows from "../domains/PurchasedRows.ts"
import { Verification } from "../domains/Verification.ts"

/** Bought domains are verified without their owner: DNS is asked until it has spread (spec, section 3). */
export class Provisioning extends Context.Service<
  Provisioning,
  {
    /** Asks DNS for every bought domain whose time has come. The waits double, from 5 seconds to an hour. */
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
