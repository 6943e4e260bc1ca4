import { assert, describe, it } from "@effect/vitest"
import { ScanBreaker } from "../../src/reading/ScanBreaker.ts"
import { type ScanJob, ScanQueue } from "../../src/reading/ScanQueue.ts"

const clocked = () => {
  let time = 0
  const pass = (millis: number) => {
    time += millis
  }
  return { breaker: new ScanBreaker(() => time), pass }
}

const scan = { isTrial: false }
const trial = { isTrial: true }

describe("The breaker of the scanner", () => {
  it("opens after three failures in a row, and a success in between counts anew", () => {
    const { breaker } = clocked()
    assert.deepStrictEqual([breaker.failed(scan), breaker.failed(scan), breaker.succeeded()], [false, false, false])
    assert.deepStrictEqual(
      [1, 2, 3].map(() => breaker.failed(scan)),
      [false, false, true]
    )
    assert.isTrue(breaker.isOpen)
    assert.isFalse(breaker.takesTrial())
  })

  it("takes one trial after 5 s, and closes with its success", () => {
    const { breaker, pass } = clocked()
    for (let at = 0; at < 3; at++) breaker.failed(scan)
    pass(4_999)
    assert.isFalse(breaker.takesTrial())
    pass(1)
    assert.isTrue(breaker.takesTrial())
    assert.isFalse(breaker.takesTrial(), "one at a time")
    assert.isTrue(breaker.isOpen, "while the trial runs")
    assert.isTrue(breaker.succeeded())
    assert.isFalse(breaker.isOpen)
  })

  it("doubles the pause with each failed trial, up to a minute", () => {
    const { breaker, pass } = clocked()
    for (let at = 0; at < 3; at++) breaker.failed(scan)
    for (const pause of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      pass(pause - 1)
      assert.isFalse(breaker.takesTrial())
      pass(1)
      assert.isTrue(breaker.takesTrial())
      breaker.failed(trial)
    }
  })

  it("counts no scan that was running when it opened as a trial", () => {
    const { breaker, pass } = clocked()
    for (let at = 0; at < 3; at++) breaker.failed(scan)
    pass(5_000)
    assert.isTrue(breaker.takesTrial())
    breaker.failed(scan)
    breaker.ended(scan)
    assert.isFalse(breaker.takesTrial(), "the trial still runs")
    breaker.ended(trial)
    assert.isTrue(breaker.takesTrial())
  })
})

describe("The queue of scans", () => {
  const make = (most: number) => {
    const started: Array<string> = []
    const queue = new ScanQueue({ most, now: () => 0 })
    const add = (tenant: string, then = (_: ScanJob) => {}) => {
      const job: ScanJob = {
        tenant,
        start: () => {
          started.push(tenant)
          then(job)
        }
      }
      queue.add(job)
      return job
    }
    return { add, queue, started }
  }

  it("runs half of the turns for one tenant alone, and leaves the rest to others", () => {
    const { add, started } = make(8)
    for (let at = 0; at < 20; at++) add("busy")
    assert.lengthOf(started, 4)
    add("quiet")
    assert.deepStrictEqual(started.at(-1), "quiet")
  })

  it("gives the next turn to the tenant with the fewest scans", () => {
    const { add, queue, started } = make(1)
    const first = add("busy")
    const second = add("busy")
    add("quiet")
    queue.ended(first)
    assert.deepStrictEqual(started, ["busy", "quiet"])
    assert.isTrue(queue.remove(second))
    assert.strictEqual(queue.waiting, 0)
  })

  it("runs a long queue of jobs that end while they start", () => {
    const { add, queue, started } = make(1)
    const first = add("tenant")
    for (let at = 0; at < 20_000; at++) add("tenant", (job) => queue.ended(job))
    queue.ended(first)
    assert.lengthOf(started, 20_001)
    assert.deepStrictEqual([queue.running, queue.waiting], [0, 0])
  })
})
