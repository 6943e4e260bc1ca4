import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as CodeScore from "../../../scripts/CodeScore.ts"
import * as Extraction from "../../../src/content/codes/Extraction.ts"
import { see } from "../../../src/content/html/SeenHtml.ts"

const mail = (subject: string, text: string | null, html?: string) =>
  Extraction.of({
    subject,
    text,
    html: html === undefined ? [] : [see(html)],
    listUnsubscribe: undefined,
    listUnsubscribePost: undefined
  })

const codeOf = (...of: Parameters<typeof mail>) => mail(...of).code

/** The code of a text after a sentence that announces one. */
const announced = (code: string) => codeOf("Your verification code", `Enter this code to sign in:\n\n${code}\n`)?.value

const labelled = readFileSync(new URL("../../fixtures/codes.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Option.getOrThrow(CodeScore.parse(line)))

const bare = (code: string | null | undefined) => code?.replace(/[\s-]/g, "")

describe("Code extraction", () => {
  const withCode = labelled.filter(({ want }) => want.code !== null)
  const without = labelled.filter(({ want }) => want.code === null)

  it("finds the code in 60 labelled mails of 35 languages, and none in 35 without one", () => {
    assert.isAtLeast(withCode.length, 60)
    assert.isAtLeast(new Set(withCode.map(({ lang }) => lang)).size, 35)
    assert.isAtLeast(without.length, 35)
  })

  it.for(withCode.map((each) => [`${each.lang}, ${each.subject}`, each] as const))(
    "returns the code as a person would type it: %s",
    ([, each]) => {
      assert.strictEqual(bare(CodeScore.find(each).code?.value), bare(each.want.code))
    }
  )

  it("is certain for each labelled mail except one with an amount and an account number", () => {
    const unsure = withCode.filter((each) => CodeScore.find(each).code?.confidence !== "high")
    assert.deepStrictEqual(
      unsure.map(({ subject }) => subject),
      ["mTAN für Ihren Auftrag"]
    )
  })

  it.for(without.map((each) => [`${each.lang}, ${each.subject}`, each] as const))(
    "is never certain without a code: %s",
    ([, each]) => {
      assert.notStrictEqual(CodeScore.find(each).code?.confidence, "high")
    }
  )

  it("returns the code to type beside the code as shown", () => {
    assert.deepStrictEqual(codeOf("Your code", "Your verification code is ٤٨٢ ٩١٣."), {
      value: "482913",
      shown: "٤٨٢ ٩١٣",
      source: "text",
      confidence: "high"
    })
    for (const [shown, value] of [
      ["482913", "482913"],
      ["482 913", "482913"],
      ["482-913", "482913"],
      ["482\u00a0913", "482913"],
      ["4 8 2 9 1 3", "482913"],
      ["48 29 13", "482913"],
      ["４８２９１３", "482913"],
      ["४८२९१३", "482913"],
      ["G-482913", "482913"],
      ["ABC-DEF", "ABC-DEF"],
      ["B7KQ4", "B7KQ4"],
      ["x7k2p9q", "x7k2p9q"],
      ["1048", "1048"],
      ["9014827733", "9014827733"],
      ["**482913**", "482913"],
      ["「482913」", "482913"]
    ] as const) {
      assert.strictEqual(announced(shown), value, shown)
    }
  })

  it("rejects dates, money, telephone numbers, addresses and parts of them", () => {
    for (const text of [
      "22.11.2026",
      "2026-11-22",
      "14:32",
      "$4829",
      "4829 €",
      "EUR 4829",
      "4,829.13",
      "48.2913",
      "+1 415 555 0123",
      "(415) 555-0123",
      "https://acme.example/482913",
      "ada482913@acme.example",
      "#482913",
      "203.0.113.77",
      "4829 1304 7719 0034",
      "CORRECT",
      "123",
      "12345678901"
    ]) {
      assert.isUndefined(announced(text), text)
    }
  })

  it("searches subject, text and HTML, and names the source", () => {
    assert.strictEqual(codeOf("482913 is your verification code", null)?.source, "subject")
    assert.strictEqual(codeOf("Hello", "Your verification code is 482913")?.source, "text")
    assert.strictEqual(codeOf("Hello", null, "<p>Your verification code is 482913</p>")?.source, "html")
    assert.strictEqual(
      codeOf("Hello", "Please look at the HTML.", "<p>Your verification code is 482913</p>")?.source,
      "html"
    )
  })

  it("ignores quoted and hidden text", () => {
    assert.isNull(codeOf("Re: hello", "I did not ask for this.\n\n> Your verification code is 482913"))
    assert.isNull(codeOf("Re: hello", "No.\n\n-----Original Message-----\nYour verification code is 482913"))
    assert.isNull(codeOf("Re: hello", null, "<p>No.</p><blockquote>Your verification code is 482913</blockquote>"))
    assert.isNull(codeOf("Hello", null, '<p>Hi.</p><p style="display:none">Your verification code is 482913</p>'))
  })

  it("is uncertain without a word for login or verification", () => {
    assert.strictEqual(codeOf("Your stay", "Hi, the door code is 482913. See you!")?.confidence, "low")
    assert.isNull(codeOf("Your stay", "Hi, we are at 482913 and the key is under the mat."))
  })

  it("is uncertain with two candidates", () => {
    const code = codeOf("Your verification codes", "Your verification codes:\n\n482913\n\n771046\n")
    assert.strictEqual(code?.confidence, "low")
    assert.strictEqual(
      codeOf("Hello", "Your login code is 482913", "<p>Your login code is 771046</p>")?.confidence,
      "low"
    )
  })

  it("prefers the code of the last line, bound to a site", () => {
    assert.deepStrictEqual(codeOf("Hello", "Bestellung 771046\n\n@acme.example #482913"), {
      value: "482913",
      shown: "482913",
      source: "text",
      confidence: "high"
    })
    assert.isNull(codeOf("Hello", "@acme.example #482913\n\nand more"))
  })

  it("searches the first 64 KiB only", () => {
    const code = "Your verification code is 482913\n"
    assert.strictEqual(codeOf("", "x\n".repeat(32_000) + code)?.value, "482913")
    assert.isNull(codeOf("", "x\n".repeat(33_000) + code))
    assert.isNull(codeOf("", null, `<p>${"x ".repeat(33_000)}</p><p>${code}</p>`))
  })

  it("does not depend on earlier mails", () => {
    const first = labelled.map((each) => JSON.stringify(CodeScore.find(each)))
    for (const each of labelled.toReversed()) CodeScore.find(each)
    assert.deepStrictEqual(
      labelled.map((each) => JSON.stringify(CodeScore.find(each))),
      first
    )
  })
})
