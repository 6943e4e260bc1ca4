import { assert, describe, it } from "@effect/vitest"
import { Config, Console, Effect } from "effect"
import * as Listening from "./Listening.ts"

/** `LISTEN_MAILS=1000 LISTEN_KILLS=10` for a long run that waits for leases and prints its figures. */
const size = Effect.gen(function* () {
  const mails = yield* Config.withDefault(Config.Int("LISTEN_MAILS"), 60)
  const kills = yield* Config.withDefault(Config.Int("LISTEN_KILLS"), 2)
  const isShort = mails <= 60
  return { mails, kills, isShort, perSecond: 20, leases: isShort ? "taken as over" : "waited for" } as const
})

describe("Apps without a public address", { timeout: 900_000 }, () => {
  it.live(
    "receive each mail at least once and signed, as copies and as deliveries, while listeners and service are killed",
    () =>
      Effect.gen(function* () {
        const { isShort, ...options } = yield* size
        const { seconds, seen } = yield* Listening.run({ ...options, apps: [[], ["--take"]] })
        for (const { attempts, events, ...figures } of isShort ? [] : seen) {
          yield* Console.log(JSON.stringify({ seconds, ...figures, events: events.length, attempts: attempts.length }))
        }
        for (const { accepted, missing, rejected } of seen) {
          assert.deepStrictEqual(missing, [])
          assert.deepStrictEqual(rejected, [])
          assert.isAtLeast(accepted, options.mails)
        }
        const [copies, deliveries] = seen
        // Copies do not count as delivered.
        assert.lengthOf(copies?.attempts ?? [], 0)

        const events = deliveries?.events ?? []
        assert.isTrue(events.every(({ delivery }) => delivery === "delivered"))
        const attempts = Map.groupBy(deliveries?.attempts ?? [], ({ event_id }) => event_id)
        assert.sameMembers(
          [...attempts.keys()],
          events.map(({ event_id }) => event_id)
        )
        for (const all of attempts.values()) {
          const [last, ...before] = all.toSorted((one, other) => other.attempt - one.attempt)
          assert.isTrue(last.ok)
          assert.strictEqual(last.attempt, all.length)
          assert.isTrue(all.every(({ url }) => url === "pull"))
          // Deliveries whose listener was killed.
          assert.isTrue(before.every(({ durationMs, ok }) => !ok && durationMs === null))
        }
      })
  )
})
