import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Attempts, mostSearched } from "../../src/events/Attempts.ts"
import { DomainId } from "../../src/model/Domain.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as StatementGap from "../StatementGap.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer(), { excludeTestServices: true })("A search of attempts", (it) => {
  it.effect("repeats none on the next page, also if new ones are stored meanwhile", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      const [event] = yield* Mailbox.events(inbox)
      const domainId = DomainId.make(inbox.domainId)
      /** Attempts of the seconds from the first to the last. Only that of second 2 failed. */
      const store = (first: number, last: number) => sql`
        INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok, status_code)
        SELECT gen_random_uuid(), ${event.event_id}, ${domainId}, number, 'http://a.example',
          '2026-01-31T12:00:00Z'::timestamptz + make_interval(secs => number), number <> 2, 200
        FROM generate_series(${first}::int, ${last}::int) AS number ON CONFLICT DO NOTHING
      `
      yield* store(1, mostSearched + 1)
      const gap = StatementGap.before("OFFSET", store(mostSearched + 2, mostSearched + 100))
      const pages = Effect.gen(function* () {
        const attempts = yield* Attempts
        const first = yield* attempts.list(domainId, { limit: 10, ok: false })
        const cursor = first.nextCursor ?? undefined
        const second = yield* attempts.list(domainId, { limit: 10, ok: false, cursor })
        return [first, second].map(({ items, nextCursor }) => [
          items.map(({ attempt }) => attempt),
          nextCursor !== null
        ])
      })
      const found = yield* Effect.provide(
        pages,
        Layer.fresh(Attempts.layer).pipe(Layer.provide(Layer.effect(SqlClient.SqlClient, gap)))
      )
      assert.deepStrictEqual(found, [
        [[2], true],
        [[], false]
      ])
    })
  )
})
