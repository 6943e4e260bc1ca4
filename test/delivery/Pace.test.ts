import { assert, describe, it } from "@effect/vitest"
import * as Pace from "../../src/delivery/Pace.ts"

const bounds = { most: 16, hangMillis: 13_500 }

/** Concurrency and standing after requests of these durations in ms. A negative one is a refusal. */
const outcomeOf = (...requests: ReadonlyArray<number>) => {
  const pace = Pace.initial()
  const places = requests.map((millis) => {
    Pace.heard(pace, millis >= 0, Math.abs(millis), bounds)
    return pace.places
  })
  return [places, pace.standing] as const
}

describe("The concurrency of a domain", () => {
  it("starts at 1 and doubles after each success up to 16", () => {
    assert.deepStrictEqual(Pace.initial(), { places: 1, standing: "new" })
    assert.deepStrictEqual(outcomeOf(12, 12, 12, 12, 12), [[2, 4, 8, 16, 16], "quick"])
  })

  it("falls back to 1 after a request of 15 s", () => {
    assert.deepStrictEqual(outcomeOf(12, 12, -15_000), [[2, 4, 1], "hung"])
    assert.deepStrictEqual(outcomeOf(12, 12, 15_000), [[2, 4, 1], "hung"])
    assert.deepStrictEqual(outcomeOf(15_000, 12, 12), [[1, 2, 4], "quick"])
  })

  it("stays the same but counts as slow while answers take over 1 s", () => {
    assert.deepStrictEqual(outcomeOf(3_000, 3_000, 3_000), [[2, 4, 8], "slow"])
    assert.deepStrictEqual(outcomeOf(3_000, 3_000, 12), [[2, 4, 8], "quick"])
    assert.deepStrictEqual(outcomeOf(12, -3_000), [[2, 2], "slow"])
  })

  it("stays the same after a refusal, which does not make the domain known", () => {
    assert.deepStrictEqual(outcomeOf(12, 12, -12), [[2, 4, 4], "quick"])
    assert.deepStrictEqual(outcomeOf(-12, -12), [[1, 1], "new"])
    assert.deepStrictEqual(outcomeOf(15_000, -12), [[1, 1], "hung"])
  })
})
