import { assert, describe, it } from "@effect/vitest"
import { PayloadBytes } from "../../src/reading/PayloadBytes.ts"

const text = (bytes: ArrayBuffer) => Buffer.from(bytes).toString()

describe("Payloads as bytes", () => {
  it("are concatenated, each with its length", () => {
    const bytes = new PayloadBytes(64)
    assert.deepStrictEqual([bytes.add(["one", "zwölf"]), bytes.add([]), bytes.add(["三", "𝟜"])], [[3, 6], [], [3, 4]])
    assert.strictEqual(bytes.length, 16)
    assert.strictEqual(text(bytes.take()), "onezwölf三𝟜")
  })

  it("share one memory block that nothing else writes to", () => {
    const bytes = new PayloadBytes(64)
    bytes.add(["one"])
    const taken = bytes.take()
    bytes.add(["two"])
    assert.strictEqual(text(taken), "one")
    assert.strictEqual(taken.byteLength, 3)
    assert.strictEqual(text(bytes.take()), "two")
    assert.strictEqual(bytes.take().byteLength, 0)
  })

  it("may exceed the usual size, alone and together", () => {
    const bytes = new PayloadBytes(4)
    const long = "三".repeat(1_000)
    assert.deepStrictEqual(
      [bytes.add(["a", long]), bytes.add(["b", long])],
      [
        [1, 3_000],
        [1, 3_000]
      ]
    )
    assert.strictEqual(text(bytes.take()), `a${long}b${long}`)
    bytes.add(["c"])
    assert.strictEqual(text(bytes.take()), "c")
  })

  it("of one message are stored together or not at all", () => {
    const bytes = new PayloadBytes(4)
    bytes.add(["a"])
    // Simulates a failed allocation.
    const unwritable = Symbol("no text") as unknown as string
    assert.throws(() => bytes.add(["b", unwritable]))
    assert.deepStrictEqual(bytes.add(["c"]), [1])
    assert.strictEqual(text(bytes.take()), "ac")
  })
})
