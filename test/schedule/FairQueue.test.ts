import { assert, describe, it } from "@effect/vitest"
import { FairQueue } from "../../src/schedule/FairQueue.ts"

const queueAt = (clock: { now: number }) => new FairQueue<string>({ now: () => clock.now, halfLifeMilliseconds: 1_000 })

const drain = (queue: FairQueue<string>) => {
  const taken: Array<string> = []
  for (let item = queue.take(() => "take"); item !== undefined; item = queue.take(() => "take")) taken.push(item)
  return taken
}

describe("A fair queue", () => {
  it("keeps the order of each tenant's items", () => {
    const queue = queueAt({ now: 0 })
    for (const item of ["1", "2", "3"]) queue.push("a", item)
    assert.deepStrictEqual(drain(queue), ["1", "2", "3"])
  })

  it("takes an item before the others of its tenant if it is pushed so", () => {
    const queue = queueAt({ now: 0 })
    for (const item of ["1", "2"]) queue.push("a", item)
    queue.push("a", "first", true)
    assert.deepStrictEqual(drain(queue), ["first", "1", "2"])
  })

  it("alternates between tenants with the same usage", () => {
    const queue = queueAt({ now: 0 })
    for (const item of ["a1", "a2", "a3"]) queue.push("a", item)
    for (const item of ["b1", "b2"]) queue.push("b", item)
    assert.deepStrictEqual(drain(queue), ["a1", "b1", "a2", "b2", "a3"])
  })

  it("prefers the tenant with less usage, also for later items", () => {
    const queue = queueAt({ now: 0 })
    queue.charge("heavy", 100)
    queue.push("heavy", "h1")
    queue.push("heavy", "h2")
    queue.push("light", "l1")
    queue.push("light", "l2")
    assert.deepStrictEqual(drain(queue), ["l1", "l2", "h1", "h2"])
  })

  it("moves a tenant back when it is charged", () => {
    const queue = queueAt({ now: 0 })
    queue.push("a", "a1")
    queue.push("b", "b1")
    queue.charge("a", 50)
    assert.deepStrictEqual(drain(queue), ["b1", "a1"])
  })

  it("refunds an excessive charge", () => {
    const queue = queueAt({ now: 0 })
    queue.charge("a", 50)
    queue.charge("a", -50)
    queue.push("a", "a1")
    queue.charge("b", 10)
    queue.push("b", "b1")
    assert.deepStrictEqual(drain(queue), ["a1", "b1"])
  })

  it("halves the recorded usage in each half-life", () => {
    const clock = { now: 0 }
    const queue = queueAt(clock)
    queue.charge("early", 1_000)
    clock.now = 10_000
    queue.charge("late", 10)
    queue.push("late", "late")
    queue.push("early", "early")
    assert.deepStrictEqual(drain(queue), ["early", "late"])
  })

  it("serves a heavy tenant eventually, despite any number of light ones", () => {
    const clock = { now: 0 }
    const queue = queueAt(clock)
    queue.charge("heavy", 1_000)
    queue.push("heavy", "heavy")
    let turns = 0
    for (let item: string | undefined; item !== "heavy"; turns++) {
      clock.now += 100
      queue.push(`light ${turns}`, "light")
      queue.push(`light ${turns} too`, "light")
      item = queue.take(() => "take")
      assert.isBelow(turns, 300)
    }
    assert.isAbove(turns, 50)
  })

  it("skips a tenant whose first item is skipped, and ends at a stop", () => {
    const queue = queueAt({ now: 0 })
    queue.push("a", "a1")
    queue.push("a", "a2")
    queue.push("b", "b1")
    assert.strictEqual(
      queue.take((item) => (item === "a1" ? "skip" : "take")),
      "b1"
    )
    assert.isUndefined(queue.take(() => "stop"))
    assert.strictEqual(queue.size, 2)
  })

  it("counts items and tenants, without removed items", () => {
    const queue = queueAt({ now: 0 })
    queue.push("a", "a1")
    queue.push("a", "a2")
    queue.push("b", "b1")
    assert.deepStrictEqual([queue.size, queue.tenants, queue.sizeOf("a")], [3, 2, 2])
    assert.isTrue(queue.remove("b", "b1"))
    assert.isFalse(queue.remove("b", "b1"))
    assert.deepStrictEqual([queue.size, queue.tenants, queue.sizeOf("b")], [2, 1, 0])
    assert.deepStrictEqual(drain(queue), ["a1", "a2"])
  })

  it("remembers at most 2,000 idle tenants", () => {
    const clock = { now: 0 }
    const queue = queueAt(clock)
    for (let tenant = 0; tenant < 50_000; tenant++) {
      clock.now += 10
      queue.charge(`${tenant}`, 1)
    }
    assert.isBelow(queue.idle, 2_000)
  })
})
