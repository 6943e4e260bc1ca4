import { readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The rows of the import order in docs/architecture.md, top first: folders and files of `src`. */
const levels = (() => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
  const [, block = ""] = /^## Import order\n[^`]*```text\n([^`]*)```/m.exec(page) ?? []
  return block
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
})()

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .sort()

/** Relative references of a file: type and value imports, and thread scripts. */
const imports = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, "src", file), "utf8")
    const named = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*|new URL\(\s*)"(\.[^"]+\.tsx?)"/g)]
    return [file, [...new Set(named.map(([, path = ""]) => normalize(join(dirname(file), path))))]] as const
  })
)

const roomOf = (file: string) => (dirname(file) === "." ? basename(file) : dirname(file))
const levelOf = (room: string) => levels.findIndex((rooms) => rooms.includes(room))

const arrows = [...imports].flatMap(([from, targets]) => targets.map((to) => ({ from, to })))

describe("The files of src", () => {
  it("belong to one row of the import order each, and each row exists", () => {
    const rooms = new Set(files.map(roomOf))
    assert.sameMembers([...rooms], levels.flat())
  })

  it("import files that exist", () => {
    assert.deepStrictEqual(
      arrows.filter(({ to }) => !files.includes(to)),
      []
    )
  })

  it("import only from their own folder or a lower row", () => {
    const wrong = arrows.filter(({ from, to }) => {
      const [own, other] = [roomOf(from), roomOf(to)]
      return own !== other && levelOf(other) <= levelOf(own)
    })
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} → ${to}`),
      []
    )
  })

  it("have no import cycle, neither of values nor of types", () => {
    const done = new Set<string>()
    const circles: Array<string> = []
    const visit = (file: string, path: ReadonlyArray<string>): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "))
      if (path.includes(file) || done.has(file)) return
      for (const next of imports.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
    assert.deepStrictEqual(circles, [])
  })

  it("let no cached result expire by the time of day, which may be set back", () => {
    const uses = files.filter((file) => /cachedWithTTL/.test(readFileSync(join(root, "src", file), "utf8")))
    assert.deepStrictEqual(uses, ["schedule/Elapsed.ts"])
  })

  it("are short: none has more than 300 lines without a reason in its head", () => {
    const lengths = files.map((file) => {
      const lines = readFileSync(join(root, "src", file), "utf8")
        .trimEnd()
        .split("\n")
      return { file, length: lines.length, hasReason: /^\/\/ .*\blong\b/.test(lines[0] ?? "") }
    })
    assert.deepStrictEqual(
      lengths.filter(({ hasReason, length }) => length > 300 && !hasReason),
      []
    )
  })
})
