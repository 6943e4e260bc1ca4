import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as TextMatch from "../../../src/content/html/TextMatch.ts"

const same = { matches: true, isComplete: true, isSame: true }

describe("A plain text and the text of its HTML", () => {
  it.each([
    ["texts without a word", " \n", ""],
    ["spaces of another width", "Dear  Ada,\n\n  the code is 12.\n", "Dear Ada,\nthe code\u00a0is 12."],
    ["spaces before and after them", "\n one two", "one two \n"]
  ])("are the same: %s", (_, plain, seen) => {
    assert.deepStrictEqual(TextMatch.of(plain, seen), same)
  })

  it("have the same words, but for a mark", () => {
    assert.deepStrictEqual(TextMatch.of("one, two", "one two"), { ...same, isSame: false })
  })

  it.each([
    ["a space within a word", "code 4829 13", "code 482913"],
    ["a space within a word of the HTML", "code 482913", "code 4829 13"],
    ["a word more", "one two three", "one two"],
    ["a word that the HTML begins with", "one two", "one t"],
    ["another first word", "two", "one"]
  ])("differ: %s", (_, plain, seen) => {
    assert.isFalse(TextMatch.of(plain, seen).isComplete)
  })

  const Text = Schema.Array(Schema.Literals(["a", "b", " ", "\n", "\u00a0"]))
  const words = (text: ReadonlyArray<string>) => new Set(text.join("").split(/\s+/).filter(Boolean))

  it.prop(
    "agree in all words exactly if each word of the plain text is in the HTML",
    { plain: Text, seen: Text },
    ({ plain, seen }) => {
      const shown = words(seen)
      const isComplete = [...words(plain)].every((word) => shown.has(word))
      assert.strictEqual(TextMatch.of(plain.join(""), seen.join("")).isComplete, isComplete)
    },
    { arbitrary: { runs: 2_000 } }
  )
})
