import { assert, describe, it } from "@effect/vitest"
import { counted, millis } from "../../src/console/frame/Figures.ts"

describe("A duration in the console", () => {
  it("has one decimal from a second on, so that ticks of an axis at equal distances read so", () => {
    assert.deepStrictEqual([0, 999, 50_000, 100_000, 150_000, 5_400_000].map(millis), [
      "0 ms",
      "999 ms",
      "50.0 s",
      "1.7 min",
      "2.5 min",
      "1.5 h"
    ])
  })
})

describe("A number with a noun in the console", () => {
  it("has the plural of the noun unless it is one", () => {
    assert.deepStrictEqual(
      [0, 1, 2].map((value) => counted(value, "attempt")),
      ["0 attempts", "1 attempt", "2 attempts"]
    )
  })
})
