import { assert, describe, it } from "@effect/vitest"
import * as MessageBytes from "../../src/smtp/MessageBytes.ts"

describe("The bytes of a message", () => {
  it("are the same whatever pieces they come in", () => {
    const message = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256))
    for (const size of [1, 3, 1_000, 5_000]) {
      const bytes = MessageBytes.make()
      for (let at = 0; at < message.length; at += size) bytes.push(message.subarray(at, at + size))
      assert.deepStrictEqual(Buffer.from(bytes.all()), message)
      bytes.clear()
      assert.strictEqual(bytes.all().length, 0)
    }
  })

  it("cost little more than themselves when they come one by one", () => {
    const bytes = MessageBytes.make()
    const before = process.memoryUsage().rss
    for (let at = 0; at < 1_000_000; at++) bytes.push(Buffer.of(at % 256))
    assert.isBelow(process.memoryUsage().rss - before, 128 * 1_024 * 1_024)
    assert.strictEqual(bytes.all().length, 1_000_000)
  })
})
