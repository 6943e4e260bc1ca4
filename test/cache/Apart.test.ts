import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { apart } from "../../src/cache/Apart.ts"
import * as SeenHtml from "../../src/content/html/SeenHtml.ts"
import { heldBytes } from "../HeldBytes.ts"

const mails = 40
const words = "words for a person who reads what was written ".repeat(12_000)

/** One string as a thread receives it, from which all others are sliced. */
const html = (style: string, head: string) =>
  Buffer.from(`${head}<p style="${style}">Hello</p><div>${words}</div>`).toString()

const heldAfter = (htmlOf: (number: number) => string) =>
  Effect.andThen(
    Effect.sync(() => {
      for (let number = 0; number < mails; number++) SeenHtml.see(htmlOf(number))
    }),
    heldBytes
  )

describe("The style cache", () => {
  it.effect("retains no other part of the message, for style attributes and for style sheets", () =>
    Effect.gen(function* () {
      const before = yield* heldAfter(() => html("color:red", ""))
      const inTags = yield* heldAfter((number) => html(`margin:0 0 12px;padding:${number}px`, ""))
      assert.isBelow(inTags - before, (mails * words.length) / 10)
      const inSheets = yield* heldAfter((number) =>
        html("color:red", `<style>.code-of-${number}{color:#111;font-size:${number}px}</style>`)
      )
      assert.isBelow(inSheets - before, (mails * words.length) / 10)
    })
  )

  it.effect("returns the same text, lone surrogates included", () =>
    Effect.sync(() => {
      for (const text of ["", "margin: 0", "größer – ☃", "\ud83d\ude00", "a\ud83db", "\0"]) {
        assert.strictEqual(apart(text), text)
      }
    })
  )
})
