import { assert, describe, it } from "@effect/vitest"
import * as RequestRate from "../../../src/http/requests/RequestRate.ts"

describe("The request rate limiter", () => {
  it("allows a burst and then a steady rate, for each owner", () => {
    const rate = RequestRate.make({ perSecond: 100, burst: 300 })
    const allowed = (owner: string, now: number, times: number) =>
      Array.from({ length: times }, () => rate.take(owner, now, 1)).filter(({ isAllowed }) => isAllowed).length
    assert.strictEqual(allowed("one", 0, 1_000), 300)
    assert.strictEqual(allowed("one", 10, 10), 1)
    assert.strictEqual(allowed("one", 1_010, 500), 100)
    assert.strictEqual(allowed("other", 1_010, 500), 300)
    assert.strictEqual(allowed("one", 60_000, 500), 300)
  })

  it("reports the burst as quota, the remainder and the time of reset", () => {
    const rate = RequestRate.make({ perSecond: 100, burst: 300 })
    assert.deepStrictEqual(rate.take("one", 0, 1).headers, {
      "ratelimit-policy": '"workspace";q=300;w=3',
      ratelimit: '"workspace";r=299;t=1'
    })
    for (let more = 0; more < 298; more++) rate.take("one", 0, 1)
    assert.strictEqual(rate.take("one", 0, 1).headers.ratelimit, '"workspace";r=0;t=3')
    assert.deepInclude(rate.take("one", 0, 1), { isAllowed: false, retryAfter: 1 })
  })

  it("does not charge for a look-up", () => {
    const rate = RequestRate.make({ perSecond: 1, burst: 1 })
    assert.isTrue(rate.take("one", 0, 0).isAllowed)
    assert.isTrue(rate.take("one", 0, 1).isAllowed)
    assert.isFalse(rate.take("one", 0, 0).isAllowed)
  })

  it("lets one answer exceed the remainder, which later requests pay", () => {
    const rate = RequestRate.make({ perSecond: 100, burst: 300 })
    assert.isTrue(rate.take("one", 0, 1).isAllowed)
    assert.isTrue(rate.charge("one", 0, 499).isAllowed)
    assert.deepInclude(rate.charge("one", 0, 48), {
      isAllowed: false,
      retryAfter: 3,
      headers: { "ratelimit-policy": '"workspace";q=300;w=3', ratelimit: '"workspace";r=0;t=5' }
    })
    assert.deepInclude(rate.take("one", 0, 1), { isAllowed: false, retryAfter: 3 })
    assert.isTrue(rate.take("other", 0, 1).isAllowed)
    assert.isFalse(rate.take("one", 2_000, 1).isAllowed)
    assert.isTrue(rate.take("one", 2_010, 1).isAllowed)
  })

  it("is unlimited at 0, and ignores a clock that runs backwards", () => {
    const rate = RequestRate.make({ perSecond: 0, burst: 1 })
    for (let times = 0; times < 10; times++) assert.isTrue(rate.take("one", 0, 1).isAllowed)
    const limited = RequestRate.make({ perSecond: 1, burst: 2 })
    limited.take("one", 10_000, 1)
    assert.isTrue(limited.take("one", 0, 1).isAllowed)
    assert.isFalse(limited.take("one", 500, 1).isAllowed)
  })

  it("forgets idle owners", () => {
    const rate = RequestRate.make({ perSecond: 100, burst: 300 })
    for (let owner = 0; owner < 25_000; owner++) rate.take(`${owner}`, owner, 1)
    assert.isAtMost(rate.remembered(), 10_001)
  })

  it("takes forty thousand new owners within 5 s, and forgets them once they are idle", () => {
    const rate = RequestRate.make({ perSecond: 1, burst: 1 })
    const began = performance.now()
    for (let owner = 0; owner < 40_000; owner++) rate.take(`${owner}`, 0, 1)
    assert.isBelow(performance.now() - began, 5_000)
    assert.strictEqual(rate.remembered(), 40_000)
    assert.isFalse(rate.take("0", 0, 1).isAllowed)
    for (let owner = 0; owner < 40_000; owner++) rate.take(`later ${owner}`, 2_000 + owner, 1)
    assert.isAtMost(rate.remembered(), 11_000)
  })
})
