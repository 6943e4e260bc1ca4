import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Proofs from "../../docs/Proofs.ts"
import * as Scenarios from "../../prove/Scenarios.ts"

const root = new URL("../../", import.meta.url)
const page = readFileSync(new URL("docs/guarantees.md", root), "utf8")
/** The bold sentence of each promise, and the rest of its line. */
const promises = [...page.slice(0, page.indexOf("## Proven under load")).matchAll(/^\*\*(.+?)\*\*(.*)$/gm)].map(
  ([, sentence = "", rest = ""]) => ({ promise: sentence.replace(/[.,]$/, "").replaceAll("`", ""), rest })
)

describe("docs/guarantees.md", () => {
  it("has a test for each promise and links to its list", () => {
    assert.isAbove(promises.length, 30)
    assert.deepStrictEqual(
      promises.map(({ promise }) => promise),
      Proofs.proofs.map(({ promise }) => promise)
    )
    for (const { promise, rest } of promises) assert.include(rest, `[Proof](proofs.md#${Proofs.anchorOf(promise)})`)
    for (const { promise, tests } of Proofs.proofs) assert.isNotEmpty(tests, promise)
  })

  it.each(Proofs.proofs)("is proven by existing tests: $promise", ({ tests }) => {
    for (const [file, title] of tests) {
      const test = new URL(file, root)
      assert.isTrue(existsSync(test), file)
      const source = readFileSync(test, "utf8")
      assert.isTrue(
        [...source.matchAll(/(["`])((?:(?!\1).)*)\1/g)].some(([, , text]) => text === title),
        `${file} › ${title}`
      )
    }
  })

  it("matches docs/proofs.md", () =>
    assert.strictEqual(
      readFileSync(new URL("docs/proofs.md", root), "utf8"),
      Proofs.render(),
      "npm run docs writes it"
    ))

  it.effect("has a table without a lost mail", () =>
    Effect.sync(() => {
      const rowsOf = (name: string) => {
        const from = page.indexOf(`<!-- ${name} -->`)
        return page
          .slice(from, page.indexOf("<!-- end -->", from))
          .split("\n")
          .filter((line) => line.startsWith("| "))
          .slice(1)
      }
      const cuts = rowsOf("power")
      assert.isNotEmpty(cuts)
      for (const row of cuts) assert.match(row, /\| \*\*0\*\* \|$/)

      const rows = rowsOf("prove")
      assert.deepStrictEqual(
        rows.map((row) => row.split("|")[1]?.trim()),
        Scenarios.all.map(({ title }) => title)
      )
      for (const row of rows) {
        const [, , , , sent, accepted, , delivered, lost, doubled] = row.split("|").map((cell) => cell.trim())
        assert.strictEqual(accepted, sent, row)
        assert.strictEqual(delivered, sent, row)
        assert.deepStrictEqual([lost, doubled], ["**0**", "**0**"], row)
      }
    })
  )
})

describe.each([["docs/contributing.md", 7]] as const)("%s", (page, atLeast) => {
  it.effect("names existing test files", () =>
    Effect.sync(() => {
      const text = readFileSync(new URL(page, root), "utf8")
      const files = new Set([...text.matchAll(/`(test\/[^`]+\.ts)`/g)].map(([, file = ""]) => file))
      assert.isAbove(files.size, atLeast)
      for (const file of files) assert.isTrue(existsSync(new URL(file, root)), file)
    })
  )
})
