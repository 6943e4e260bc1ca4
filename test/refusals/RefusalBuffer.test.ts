import { assert, describe, it } from "@effect/vitest"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { type Refusal, RefusalBuffer } from "../../src/refusals/RefusalBuffer.ts"

const refusal = (about: Partial<Refusal> = {}): Refusal => ({
  domain: { name: DomainName.make("known.example") },
  reason: "unknown",
  code: 550,
  reply: "550 5.1.2 This domain does not receive mail here",
  client: "203.0.113.9",
  helo: "client.example",
  from: "sender@sender.example",
  recipient: "someone@known.example",
  ...about
})

const named = (name: string, about: Partial<Refusal> = {}) =>
  refusal({ domain: { name: DomainName.make(name) }, recipient: `someone@${name}`, ...about })

const hour = 3_600_000

describe("The memory of refusals", () => {
  it("merges equal ones of an hour, and keeps the times of the first and the last", () => {
    const buffer = new RefusalBuffer()
    for (const now of [1, 5, hour - 1, hour]) buffer.add(refusal(), now)
    assert.deepStrictEqual(
      buffer.take(9).map(({ count, firstAt, lastAt }) => ({ count, firstAt, lastAt })),
      [
        { count: 3, firstAt: 1, lastAt: hour - 1 },
        { count: 1, firstAt: hour, lastAt: hour }
      ]
    )
  })

  it("tells apart reason, code, client, sender, recipient and Message-ID", () => {
    const buffer = new RefusalBuffer()
    const others: ReadonlyArray<Partial<Refusal>> = [
      {},
      { reason: "storage" },
      { code: 551 },
      { client: "203.0.113.10" },
      { from: "other@sender.example" },
      { recipient: "other@known.example" },
      { messageId: "<1@sender.example>" }
    ]
    for (const other of [...others, ...others]) buffer.add(refusal(other), 1)
    assert.deepStrictEqual(
      buffer.take(99).map(({ count }) => count),
      others.map(() => 2)
    )
  })

  it("counts refusals of a domain without details once it has too many different ones", () => {
    const buffer = new RefusalBuffer({ ofOwner: 3 })
    for (let number = 0; number < 10; number++) buffer.add(refusal({ recipient: `${number}@known.example` }), 1)
    buffer.add(named("other.example"), 1)
    const taken = buffer.take(99)
    assert.lengthOf(taken, 5)
    const rest = taken.find(({ isRest }) => isRest)
    assert.deepInclude(rest, {
      count: 7,
      from: null,
      recipient: null,
      domain: { name: DomainName.make("known.example") }
    })
    assert.strictEqual(buffer.takeDropped(), 0)
  })

  it("counts further names of a client without the name, and keeps those of others", () => {
    const buffer = new RefusalBuffer({ namesOfClient: 5 })
    for (let number = 0; number < 1_000; number++) buffer.add(named(`n${number}.example`), 1)
    buffer.add(named("other.example", { client: "203.0.113.10" }), 1)
    const taken = buffer.take(99)
    assert.lengthOf(taken, 7)
    assert.deepInclude(taken[5], { count: 995, domain: null, client: "203.0.113.9" })
    assert.deepInclude(taken[6], { count: 1, client: "203.0.113.10" })
  })

  it("leaves room for known domains in a flood of names", () => {
    const buffer = new RefusalBuffer({ names: 10, entries: 20 })
    for (let number = 0; number < 1_000; number++) {
      buffer.add(named(`n${number}.example`, { client: `203.0.${number >> 8}.${number & 255}` }), 1)
    }
    const id = DomainId.make("01981c9e-4f00-7000-8000-000000000001")
    buffer.add(refusal({ domain: { id }, reason: "quota" }), 1)
    assert.deepInclude(buffer.take(9_999).at(-1), { reason: "quota", recipient: "someone@known.example" })
  })

  it("drops and counts what has no room even without details", () => {
    const buffer = new RefusalBuffer({ entries: 2, rests: 2 })
    for (let number = 0; number < 10; number++) buffer.add(named(`n${number}.example`), 1)
    assert.strictEqual(buffer.size, 4)
    assert.strictEqual(buffer.takeDropped(), 6)
    assert.strictEqual(buffer.takeDropped(), 0)
  })

  it("holds at most its bytes, whatever the client sends", () => {
    const buffer = new RefusalBuffer({ bytes: 50_000 })
    const long = "x".repeat(100_000)
    for (let number = 0; number < 1_000; number++) {
      buffer.add(named(`n${number}.example`, { from: `${number}${long}`, helo: long, reply: long, subject: long }), 1)
    }
    const detailed = buffer.take(99_999).filter(({ isRest }) => !isRest)
    assert.isBelow(detailed.length, 20)
    const weight = detailed.reduce((sum, one) => sum + one.weight, 0)
    assert.isAtMost(weight, 50_000)
    for (const { from, helo, reply } of detailed) {
      assert.isAtMost(from?.length ?? 0, 320)
      assert.isAtMost(helo.length, 255)
      assert.isAtMost(reply.length, 255)
    }
  })

  it("has room again for what was taken, and merges what is restored", () => {
    const buffer = new RefusalBuffer({ ofOwner: 1 })
    buffer.add(refusal(), 1)
    const taken = buffer.take(9)
    buffer.add(refusal(), 2)
    buffer.restore(taken)
    assert.deepStrictEqual(
      buffer.take(9).map(({ count, firstAt, isRest, lastAt }) => ({ count, firstAt, isRest, lastAt })),
      [{ count: 2, firstAt: 1, isRest: false, lastAt: 2 }]
    )
  })

  it("keeps texts on one line without control characters", () => {
    const buffer = new RefusalBuffer()
    buffer.add(refusal({ helo: "a\r\nb\u0000\u202ec", subject: "\ud800x" }), 1)
    const [noted] = buffer.take(1)
    assert.deepInclude(noted, { helo: "a  b  c", subject: "x" })
  })
})
