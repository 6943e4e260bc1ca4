import { assert, describe, it } from "@effect/vitest"
import { BoundedMap } from "../../src/cache/BoundedMap.ts"

const keysOf = (map: BoundedMap<string, number>) => ["a", "b", "c", "d"].filter((key) => map.has(key))

describe("A bounded map", () => {
  it("evicts the oldest entry at one entry over its limit", () => {
    const map = new BoundedMap<string, number>(2)
    map.set("a", 1)
    map.set("b", 2)
    map.set("c", 3)
    assert.deepStrictEqual(keysOf(map), ["b", "c"])
    assert.deepStrictEqual([map.get("a"), map.get("b"), map.get("c")], [undefined, 2, 3])
  })

  it("treats an entry that is set again as the newest", () => {
    const map = new BoundedMap<string, number>(2)
    map.set("a", 1)
    map.set("b", 2)
    map.set("a", 3)
    map.set("c", 4)
    assert.deepStrictEqual(keysOf(map), ["a", "c"])
    assert.strictEqual(map.get("a"), 3)
  })

  it("evicts an entry with the key undefined", () => {
    const map = new BoundedMap<string | undefined, number>(1)
    map.set(undefined, 1)
    map.set("a", 2)
    assert.isFalse(map.has(undefined))
  })
})
