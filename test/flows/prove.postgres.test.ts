import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { Cluster } from "../../prove/Cluster.ts"
import * as Scenarios from "../../prove/Scenarios.ts"
import * as Trial from "../../prove/Trial.ts"
import * as Needs from "../Needs.ts"

/** `npm run prove` for seconds instead of minutes. */
const holds = Effect.fnUntraced(function* (scenario: Scenarios.Scenario, seconds: number) {
  const verdict = yield* Trial.run(scenario, `short-${Scenarios.all.indexOf(scenario)}`, {
    time: Duration.seconds(seconds),
    perSecond: 50,
    leases: "taken as over"
  })
  assert.deepStrictEqual(verdict.faults, [])
  assert.isAbove(verdict.delivered, 0)
  assert.isAtLeast(verdict.times, 1)
})

describe("A PostgreSQL of our own", Needs.options(Needs.cluster), () => {
  layer(Cluster.layer, { excludeTestServices: true })("No mail that was answered 250 is lost", (it) => {
    it.effect("while the service is killed at random with kill -9", () => holds(Scenarios.killed, 7))

    it.effect("while mail comes by HTTP, and the service or the relay dies at random", () =>
      holds(Scenarios.relayKilled, 4)
    )

    it.effect("while mail comes through the bridge, and the service or workerd is killed at random", () =>
      holds(Scenarios.bridgeKilled, 4)
    )

    it.effect("while PostgreSQL is restarted at random with -m immediate", () => holds(Scenarios.databaseCrashed, 6))

    it.effect("while PostgreSQL is suspended for longer than any timeout", () => holds(Scenarios.databaseFrozen, 1))

    it.effect("while the raw message disk is full", () => holds(Scenarios.diskFull, 5))

    it.effect("when one of two processes is killed for good", () => holds(Scenarios.oneOfTwoKilled, 4))
  })
})
