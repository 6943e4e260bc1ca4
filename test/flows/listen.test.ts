import { assert, describe, it } from "@effect/vitest"
import { Config, Console, Effect } from "effect"
import * as Listening from "./Listening.ts"

/** `LISTEN_MAILS=1000 LISTEN_KILLS=10` for a long run, which waits for leases and prints its figures. */
const size = Effect.gen(function* () {
  const mails = yield* Config.withDefault(Config.Int("LISTEN_MAILS"), 60)
  const kills = yield* Config.withDefault(Config.Int("LISTEN_KILLS"), 2)
  const isShort = mails <= 60
  return { mails, kills, isShort, perSecond: 15, leases: isShort ? "taken as over" : "waited for" } as const
})

const report = (what: string, { attempts, events, ...figures }: Effect.Success<ReturnType<typeof Listening.run>>) =>
  Console.log(`${what}: ${JSON.stringify({ ...figures, events: events.length, attempts: attempts.length })}`)

describe("An app without a public address", { timeout: 900_000 }, () => {
  it.live("gets a copy of each mail at least once, signed, while listener and service are killed in turn", () =>
    Effect.gen(function* () {
      const { isShort, ...options } = yield* size
      const seen = yield* Listening.run({ ...options, flags: [] })
      if (!isShort) yield* report("copies", seen)
      assert.deepStrictEqual(seen.missing, [])
      assert.deepStrictEqual(seen.rejected, [])
      assert.isAtLeast(seen.accepted, options.mails)
      // Nothing was delivered by it.
      assert.lengthOf(seen.attempts, 0)
    })
  )
})
