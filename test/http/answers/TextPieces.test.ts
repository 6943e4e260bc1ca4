import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as TextPieces from "../../../src/http/answers/TextPieces.ts"

const encode = (...texts: ReadonlyArray<ReadonlyArray<string>>) =>
  Stream.runCollect(TextPieces.encoded(Stream.fromIterable(texts)))

describe("A text in pieces", () => {
  it.effect("is one piece if it is short", () =>
    Effect.gen(function* () {
      const pieces = yield* encode(["a", "€", "😀"], ["b"])
      assert.deepStrictEqual(
        pieces.map((piece) => Buffer.from(piece).toString()),
        ["a€😀", "b"]
      )
    })
  )

  it.effect("has the same bytes in several pieces if it is long, without a split character", () =>
    Effect.gen(function* () {
      for (const begin of ["", "x"]) {
        const long = `${begin}${"😀€".repeat(300_000)}`
        const pieces = yield* encode(["[", long, "]"])
        assert.isAbove(pieces.length, 5)
        for (const piece of pieces) assert.isAtMost(piece.length, 400_000)
        assert.isTrue(Buffer.concat(pieces).equals(Buffer.from(`[${long}]`)))
      }
    })
  )

  it.effect("yields to other work between pieces", () =>
    Effect.gen(function* () {
      let turns = 0
      let isOver = false
      const count = () => {
        turns++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      const pieces = yield* encode(["x".repeat(3_000_000)])
      isOver = true
      assert.isAtLeast(turns, pieces.length - 2)
    })
  )
})
