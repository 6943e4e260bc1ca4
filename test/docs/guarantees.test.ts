import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const root = new URL("../../", import.meta.url)
const page = readFileSync(new URL("docs/guarantees.md", root), "utf8")
const named = [...page.matchAll(/^- `(test\/[^`]+)` › (.+)$/gm)]

describe("docs/guarantees.md", () => {
  it.effect("names tests that exist", () =>
    Effect.sync(() => {
      assert.isAbove(named.length, 30)
      for (const [line, file = "", title = ""] of named) {
        const test = new URL(file, root)
        assert.isTrue(existsSync(test), line)
        const source = readFileSync(test, "utf8")
        assert.isTrue(
          [...source.matchAll(/(["`])((?:(?!\1).)*)\1/g)].some(([, , text]) => text === title),
          line
        )
      }
    })
  )

  it.effect("names at least one test for each promise", () =>
    Effect.sync(() => {
      const promises = page.slice(0, page.indexOf("## Proven under load")).match(/^\*\*.*$(?=\n\n(.*))/gm) ?? []
      assert.isAbove(promises.length, 15)
      for (const promise of promises) {
        assert.match(page.slice(page.indexOf(promise) + promise.length), /^\n\n- `test\//, promise)
      }
    })
  )

  it.effect("shows a table without a loss", () =>
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
      assert.lengthOf(rows, 6)
      for (const row of rows) {
        const [, , , , sent, accepted, , delivered, lost, doubled] = row.split("|").map((cell) => cell.trim())
        assert.strictEqual(accepted, sent, row)
        assert.strictEqual(delivered, sent, row)
        assert.deepStrictEqual([lost, doubled], ["**0**", "**0**"], row)
      }
    })
  )
})

describe.each([
  ["docs/cases.md", 30],
  ["docs/contributing.md", 8]
] as const)("%s", (page, atLeast) => {
  it.effect("names test files that exist", () =>
    Effect.sync(() => {
      const text = readFileSync(new URL(page, root), "utf8")
      const files = new Set([...text.matchAll(/`(test\/[^`]+\.ts)`/g)].map(([, file = ""]) => file))
      assert.isAbove(files.size, atLeast)
      for (const file of files) assert.isTrue(existsSync(new URL(file, root)), file)
    })
  )
})
