import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { DomainId } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { Refusals } from "../../src/refusals/Refusals.ts"
import * as Mailbox from "../Mailbox.ts"
import * as StatementGap from "../StatementGap.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** Refusals of a domain, a millisecond after each other. That of number 2 is for agent-7, the others for agent-8. */
const store = Effect.fnUntraced(function* (domainId: DomainId, first: number, last: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO refusals (
      id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, envelope_from, recipient
    )
    SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + number), 12, '0') || '70008000' ||
        substr(md5(${domainId}), 1, 12))::uuid, ${domainId},
      date_trunc('hour', now()), decode(md5(number::text), 'hex'), now(), now(), 1, 550, '550 No', 'rejected_route',
      'spy@acme.example', 'agent-' || CASE number WHEN 2 THEN 7 ELSE 8 END || '@known.example'
    FROM generate_series(${first}::int, ${last}::int) AS number ON CONFLICT DO NOTHING
  `
})

layer(TestDatabase.layer, { excludeTestServices: true })("The refusals of a key with a pattern", (it) => {
  it.effect("repeat none on the next page, also if new ones are stored meanwhile", () =>
    Effect.gen(function* () {
      const { domainId } = yield* Mailbox.attach("moved.example")
      yield* store(domainId, 1, 2_001)
      const database = yield* Effect.context<SqlClient.SqlClient>()
      const gap = StatementGap.before("OFFSET", Effect.provide(store(domainId, 2_002, 2_100), database))
      const pages = Effect.gen(function* () {
        const refusals = yield* Refusals
        const filter = { only: "agent-7" }
        const first = yield* refusals.list(domainId, filter, { limit: 10 })
        const cursor = first.nextCursor ?? undefined
        const second = yield* refusals.list(domainId, filter, { limit: 10, cursor })
        return [first, second].map(({ items, nextCursor }) => [items.length, nextCursor !== null])
      })
      const found = yield* Effect.provide(
        pages,
        Refusals.layer.pipe(Layer.provide(Layer.effect(SqlClient.SqlClient, gap)))
      )
      assert.deepStrictEqual(found, [
        [1, true],
        [0, false]
      ])
    })
  )

  it.effect("are none before the domain is verified, so that patterns do not tell its addresses", () =>
    Effect.gen(function* () {
      const refusals = yield* Refusals
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* Mailbox.attach("masked.example")
      const [row] = yield* sql<{ readonly workspaceId: string }>`
        UPDATE domains SET status = 'pending_verification', verified_at = NULL WHERE id = ${domainId}
        RETURNING workspace_id
      `
      const scope = { workspaceId: WorkspaceId.make(row?.workspaceId ?? "") }
      const began = yield* DateTime.now
      yield* store(domainId, 1, 2)
      const found = Effect.fnUntraced(function* (only: string | undefined) {
        const listed = yield* refusals.list(domainId, { only }, { limit: 10 })
        const searched = yield* refusals.search({ scope, only, limit: 10 })
        const during = yield* refusals.during({ id: domainId }, began, only)
        return [listed.items.length, searched.refusals.length, during?.slice(0, 7)]
      })
      for (const only of ["agent-7", "agent-*", "a*"]) assert.deepStrictEqual(yield* found(only), [0, 0, undefined])
      // Neither says anything of a local part.
      for (const only of ["*", undefined]) assert.deepStrictEqual(yield* found(only), [2, 2, "2 mails"])
      const recipient = "AGENT-7@known.example"
      assert.lengthOf((yield* refusals.list(domainId, { recipient }, { limit: 10 })).items, 1)
      yield* sql`UPDATE domains SET status = 'live', verified_at = now() WHERE id = ${domainId}`
      assert.deepStrictEqual(yield* found("agent-7"), [1, 1, "1 mail "])
    }).pipe(Effect.provide(Refusals.layer))
  )
})
