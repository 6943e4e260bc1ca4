import { assert, it } from "@effect/vitest"
import { Tally } from "../../src/cache/Tally.ts"

it("A tally adds up what each owner holds, and forgets owners that hold nothing", () => {
  const tally = new Tally()
  tally.add("one", 2)
  tally.add("other", 5)
  tally.add("one", 1)
  assert.deepStrictEqual([tally.of("one"), tally.of("other"), tally.of("unknown"), tally.total], [3, 5, 0, 8])
  assert.strictEqual(tally.owners, 2)
  tally.add("one", -3)
  assert.deepStrictEqual([tally.of("one"), tally.owners, tally.total], [0, 1, 5])
})
