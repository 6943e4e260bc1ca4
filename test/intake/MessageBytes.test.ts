import { assert, describe, it } from "@effect/vitest"
import { MessageBytes } from "../../src/intake/MessageBytes.ts"

describe("The bytes of a message", () => {
  it("are the same for any pieces", () => {
    const message = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256))
    for (const size of [1, 3, 1_000, 5_000]) {
      const bytes = new MessageBytes()
      for (let at = 0; at < message.length; at += size) bytes.push(message.subarray(at, at + size))
      assert.deepStrictEqual(Buffer.from(bytes.whole()), message)
      bytes.clear()
      assert.strictEqual(bytes.whole().length, 0)
    }
  })

  it("are copied once after their prefix, and alone into memory of their own", () => {
    const bytes = new MessageBytes()
    for (const piece of ["one", "", "two"]) bytes.push(Buffer.from(piece))
    const target = Buffer.from("trace: ...... end")
    bytes.copyInto(target, 7)
    assert.strictEqual(target.toString(), "trace: onetwo end")
    assert.strictEqual(bytes.byteLength, 6)
    assert.strictEqual(bytes.pieces.length, 3)
    const { buffer, byteLength } = bytes.whole()
    assert.strictEqual(buffer.byteLength, byteLength)
  })

  it("are once in memory after they were moved, and their first ones can be read there", () => {
    const bytes = new MessageBytes()
    for (const piece of ["one", "two"]) bytes.push(Buffer.from(piece))
    const target = Buffer.from("trace: ...... end")
    bytes.moveInto(target, 7)
    assert.deepStrictEqual(
      bytes.pieces.map(({ buffer }) => buffer),
      [target.buffer]
    )
    assert.strictEqual(Buffer.concat(bytes.first(5)).toString(), "onetw")
    assert.strictEqual(Buffer.concat(bytes.first(100)).toString(), "onetwo")
    assert.strictEqual(bytes.byteLength, 6)
  })

  it("cost little more than their size when they arrive one by one", () => {
    const bytes = new MessageBytes()
    const before = process.memoryUsage().rss
    for (let at = 0; at < 1_000_000; at++) bytes.push(Buffer.of(at % 256))
    assert.isBelow(process.memoryUsage().rss - before, 128 * 1_024 * 1_024)
    assert.strictEqual(bytes.whole().length, 1_000_000)
  })
})
