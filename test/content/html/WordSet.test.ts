import { assert, describe, it } from "@effect/vitest"
import { WordSet } from "../../../src/content/html/WordSet.ts"
import * as Dice from "../../reading/Dice.ts"

/** What a set of the words as strings says. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{N}\p{M}]+/gu
const wordsOf = (text: string) => new Set(text.match(word))

const pieces = [..."ab7 -é漢字かไก⺀", "word", "e\u0301", "\u0301", "\u0000"] as const

describe("A set of words", () => {
  it("has the words of a Unicode expression, and knows which of them another text lacks", () => {
    const dice = Dice.make(7)
    const text = () => dice.some(40, ["a", ...pieces])
    for (let run = 0; run < 5_000; run++) {
      const [one, other] = [text(), text()]
      const [words, others] = [wordsOf(one), wordsOf(other)]
      const set = new WordSet(one)
      assert.strictEqual(set.size, words.size, JSON.stringify(one))
      const missing = [...words].filter((each) => !others.has(each)).length
      assert.strictEqual(set.missingIn(new WordSet(other)), missing, JSON.stringify([one, other]))
    }
  })

  it("does not tell capitals from small letters", () => {
    const [said, shown] = [new WordSet("Κωδικός ΟΔΟΣ İSTANBUL Äpfel"), "κωδικός οδος istanbul äPFEL"]
    assert.strictEqual(said.size, 4)
    assert.strictEqual(said.missingIn(new WordSet(shown)), 0)
  })

  it("has the halves of characters beyond 16 bits", () => {
    const said = new WordSet("code \u{1d7d2}\u{1d7d6}")
    assert.strictEqual(said.size, 4)
    assert.strictEqual(said.missingIn(new WordSet("code \u{1d7d2}")), 1)
  })

  it("leaves out URLs up to the next space", () => {
    const set = new WordSet(
      "See https://shop.example/o?id=7 and (HTTP://a.example) or mailto:x@a.example, WWW.a.example/b"
    )
    assert.strictEqual(set.size, 3)
    assert.strictEqual(set.missingIn(new WordSet("see and or")), 0)
    assert.strictEqual(new WordSet("at 12:30, http: www mailto").size, 6)
  })

  it("has room for a text in which each character is a word", () => {
    const all = Array.from({ length: 16_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("")
    const set = new WordSet(all)
    assert.strictEqual(set.size, 16_000)
    assert.strictEqual(set.missingIn(new WordSet("")), 16_000)
  })
})
