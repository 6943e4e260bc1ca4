import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Verification } from "../domains/Verification.ts"
import { DomainId } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"

/** Bought domains are verified automatically: DNS is queried until it has propagated (spec, section 3). */
export class Provisioning extends Context.Service<
  Provisioning,
  {
    /** Queries DNS for every due bought domain. The delays double from 5 s to 1 h. */
    readonly verifyDue: Effect.Effect<void>
  }
>()("inlet/purchase/Provisioning") {
  static readonly layer = Layer.effect(
    Provisioning,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const verification = yield* Verification

      // The next check is stored before this one, so that a crash or a slow resolver costs one check.
      const claim = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ id: DomainId, workspaceId: WorkspaceId }),
        execute: () => sql`
          UPDATE domains SET
            verify_tries = verify_tries + 1,
            verify_at = now() + make_interval(secs => least(5 * 2 ^ least(verify_tries, 12), 3600))
          WHERE id IN (
            SELECT domains.id FROM domains
            -- Not before its records are published.
            JOIN orders ON orders.domain_id = domains.id AND orders.status = 'completed'
            WHERE domains.origin = 'purchased' AND domains.status = 'pending_verification' AND verify_at <= now()
            ORDER BY verify_at LIMIT 16
            FOR UPDATE OF domains SKIP LOCKED
          )
          RETURNING id, workspace_id
        `
      })

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
