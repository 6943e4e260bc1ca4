import { assert, describe, it } from "@effect/vitest"
import * as DeliveryLines from "../../src/delivery/DeliveryLines.ts"
import { DomainId } from "../../src/model/Domain.ts"

interface Delivery {
  readonly domainId: DomainId
  readonly name: string
}

const domain = (letter: string) => DomainId.make(`${letter.repeat(8)}-0000-7000-8000-000000000000`)
const a = domain("a")
const b = domain("b")
const c = domain("c")

/** So many deliveries of a domain, named by its letter and a number. */
const deliveries = (domainId: DomainId, count: number): ReadonlyArray<Delivery> =>
  Array.from({ length: count }, (_, index) => ({ domainId, name: `${domainId.slice(0, 1)}${index + 1}` }))

/** Lines for two requests of a domain at a time, and what they began. */
const recording = ({ concurrency = 100, concurrencyPerDomain = 2 } = {}) => {
  const begun: Array<string> = []
  let wanted = 0
  const lines = DeliveryLines.make<Delivery>({
    concurrency,
    concurrencyPerDomain,
    begin: ({ name }) => void begun.push(name),
    wanting: () => void wanted++
  })
  const claim = (...claimed: ReadonlyArray<Delivery>) => lines.take(claimed, lines.sizes())
  const end = (domainId: DomainId) => {
    lines.answered(domainId)
    lines.settled(domainId)
  }
  return { lines, begun, claim, end, wanted: () => wanted }
}

describe("The lines of deliveries", () => {
  it("begin as many of a domain as may go at a time, the next ones in their order when one is answered", () => {
    const { begun, claim, lines } = recording()
    claim(...deliveries(a, 4))
    assert.deepStrictEqual(begun, ["a1", "a2"])
    lines.answered(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3"])
    lines.settled(a)
    lines.answered(a)
    assert.deepStrictEqual(begun, ["a1", "a2", "a3", "a4"])
    lines.answered(a)
    lines.answered(a)
    assert.lengthOf(begun, 4)
  })

  it("begin no more in all than may go at a time, and let every domain have its turn", () => {
    const { begun, claim, end } = recording({ concurrency: 2 })
    claim(...deliveries(a, 6))
    claim(...deliveries(b, 4), ...deliveries(c, 2))
    assert.deepStrictEqual(begun, ["a1", "a2"])
    // Whichever request ends, the domain that has waited longest comes next.
    for (const ended of [a, a, b, c, a, b, c, a]) end(ended)
    assert.deepStrictEqual(begun.slice(2), ["b1", "c1", "a3", "b2", "c2", "a4", "b3", "a5"])
  })

  it("leave a domain whose requests hang to itself", () => {
    const { begun, claim, end } = recording({ concurrency: 4 })
    claim(...deliveries(a, 6), ...deliveries(b, 6))
    assert.sameMembers(begun, ["a1", "b1", "a2", "b2"])
    for (let round = 0; round < 4; round++) end(b)
    assert.deepStrictEqual(begun.slice(4), ["b3", "b4", "b5", "b6"])
  })

  it("go on with the next one when a request ends before it has begun", () => {
    const ended: Array<string> = []
    const lines = DeliveryLines.make<Delivery>({
      concurrency: 1,
      concurrencyPerDomain: 1,
      begin: ({ domainId, name }) => {
        lines.answered(domainId)
        lines.settled(domainId)
        ended.push(name)
      },
      wanting: () => {}
    })
    lines.take(deliveries(a, 3), lines.sizes())
    assert.deepStrictEqual(ended, ["a1", "a2", "a3"])
    assert.strictEqual(lines.sizes().size, 0)
  })

  it("have places for three turns of a domain's requests, and for three turns in all", () => {
    const { lines } = recording({ concurrency: 4 })
    assert.strictEqual(lines.reserve(a, 4), 4)
    assert.strictEqual(lines.reserve(a, 4), 2)
    assert.strictEqual(lines.reserve(b, 5), 5)
    assert.strictEqual(lines.reserve(c, 5), 1)
  })

  it("begin what comes into a place, which is given up when its outcome is written down", () => {
    const { begun, lines } = recording()
    assert.strictEqual(lines.reserve(a, 6), 6)
    const [first, second, third] = deliveries(a, 3)
    for (const delivery of [first, second, third]) if (delivery !== undefined) lines.fill(delivery)
    lines.release(a, 3)
    assert.deepStrictEqual(begun, ["a1", "a2"])
    assert.deepStrictEqual([...lines.sizes()], [[a, 3]])
    lines.answered(a)
    assert.deepStrictEqual([...lines.sizes()], [[a, 3]])
    lines.settled(a)
    assert.deepStrictEqual([...lines.sizes()], [[a, 2]])
    assert.strictEqual(lines.reserve(a, 4), 4)
  })

  it("have no place for a domain that got too few, until a claim finds no more of it", () => {
    const { end, lines } = recording()
    assert.strictEqual(lines.reserve(a, 7), 6)
    lines.release(a, 6)
    assert.strictEqual(lines.reserve(a, 1), 0)
    lines.forgetLimits()
    lines.take(deliveries(a, 6), new Map())
    end(a)
    // The claim took all there was room for: there may be more.
    assert.strictEqual(lines.reserve(a, 1), 0)
  })

  it("have places again for a domain of which a claim has found less than there was room for", () => {
    const { lines } = recording()
    lines.reserve(a, 7)
    lines.release(a, 6)
    lines.forgetLimits()
    lines.take(deliveries(a, 1), new Map())
    assert.strictEqual(lines.reserve(a, 1), 1)
  })

  it("stay behind for a domain that is full when the others are forgotten", () => {
    const { lines } = recording()
    lines.reserve(a, 7)
    lines.forgetLimits()
    lines.release(a, 1)
    assert.strictEqual(lines.reserve(a, 1), 0)
  })

  it("want a claim once most of a domain has gone that may have more, and nothing for one that has not", () => {
    const { claim, end, lines, wanted } = recording()
    claim(...deliveries(a, 6))
    claim(...deliveries(b, 5))
    for (let round = 0; round < 3; round++) end(a)
    assert.isTrue(lines.isBusy(a))
    assert.strictEqual(wanted(), 0)
    end(a)
    assert.isFalse(lines.isBusy(a))
    assert.strictEqual(wanted(), 1)
    for (let round = 0; round < 5; round++) end(b)
    assert.strictEqual(wanted(), 1)
  })

  it("want a claim that found no room once there is one turn left in all", () => {
    const { claim, end, lines, wanted } = recording({ concurrency: 2 })
    claim(...deliveries(a, 3), ...deliveries(b, 3))
    assert.strictEqual(lines.room(64), 0)
    for (const ended of [a, b, a]) end(ended)
    assert.strictEqual(wanted(), 0)
    end(b)
    assert.strictEqual(wanted(), 1)
    assert.strictEqual(lines.room(64), 4)
    assert.strictEqual(lines.room(3), 3)
  })

  it("begin nothing more once they are stopped, and return what waits", () => {
    const { begun, claim, end, lines } = recording()
    claim(...deliveries(a, 4), ...deliveries(b, 1))
    assert.deepStrictEqual(
      lines.stop().map(({ name }) => name),
      ["a3", "a4"]
    )
    assert.strictEqual(lines.underWay(), 3)
    lines.answered(a)
    assert.strictEqual(lines.underWay(), 3)
    lines.settled(a)
    end(a)
    end(b)
    assert.strictEqual(lines.underWay(), 0)
    assert.strictEqual(lines.reserve(a, 1), 0)
    assert.strictEqual(lines.room(64), 0)
    assert.sameMembers(begun, ["a1", "a2", "b1"])
  })
})
