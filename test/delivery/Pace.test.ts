import { assert, describe, it } from "@effect/vitest"
import * as Pace from "../../src/delivery/Pace.ts"

const bounds = { most: 16, hangMillis: 13_500 }

/** The places and the standing after requests that took so many milliseconds; a refusal is marked by a minus. */
const outcomeOf = (...requests: ReadonlyArray<number>) => {
  const pace = Pace.initial()
  const places = requests.map((millis) => {
    Pace.heard(pace, millis >= 0, Math.abs(millis), bounds)
    return pace.places
  })
  return [places, pace.standing] as const
}

describe("The pace of a domain", () => {
  it("begins with one place, and each success doubles its places up to sixteen", () => {
    assert.deepStrictEqual(Pace.initial(), { places: 1, standing: "new" })
    assert.deepStrictEqual(outcomeOf(12, 12, 12, 12, 12), [[2, 4, 8, 16, 16], "quick"])
  })

  it("is back at one place after a hang, whatever was answered before it", () => {
    assert.deepStrictEqual(outcomeOf(12, 12, -15_000), [[2, 4, 1], "hung"])
    assert.deepStrictEqual(outcomeOf(12, 12, 15_000), [[2, 4, 1], "hung"])
    assert.deepStrictEqual(outcomeOf(15_000, 12, 12), [[1, 2, 4], "quick"])
  })

  it("is a slow one while its answers take more than a second, with as many places", () => {
    assert.deepStrictEqual(outcomeOf(3_000, 3_000, 3_000), [[2, 4, 8], "slow"])
    assert.deepStrictEqual(outcomeOf(3_000, 3_000, 12), [[2, 4, 8], "quick"])
    assert.deepStrictEqual(outcomeOf(12, -3_000), [[2, 2], "slow"])
  })

  it("keeps its places when a webhook refuses, and is not known any better for it", () => {
    assert.deepStrictEqual(outcomeOf(12, 12, -12), [[2, 4, 4], "quick"])
    assert.deepStrictEqual(outcomeOf(-12, -12), [[1, 1], "new"])
    assert.deepStrictEqual(outcomeOf(15_000, -12), [[1, 1], "hung"])
  })
})
