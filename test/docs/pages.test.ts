import { existsSync, readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { RefusalReason } from "../../src/model/Refusal.ts"

const root = new URL("../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")
const list = (path: string, recursive = false) => readdirSync(new URL(path, root), { recursive, encoding: "utf8" })

const inDocs = list("docs", true).filter((file) => file.endsWith(".md"))
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...inDocs.map((file) => `docs/${file}`),
  "bench/README.md"
]

const architecture = read("docs/architecture.md")
const section = (title: string) => architecture.split("\n## ").find((text) => text.startsWith(`${title}\n`)) ?? ""

/** The anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")

const anchors = (page: string) => [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading))

describe("The pages", () => {
  it.each(pages)("link to existing files and headings: %s", (page) => {
    for (const [, target = ""] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [file = "", anchor] = target.split("#")
      const path = file === "" ? page : new URL(file, new URL(page, root)).pathname.slice(root.pathname.length)
      assert.isTrue(existsSync(new URL(path, root)), target)
      if (anchor !== undefined) assert.include(anchors(path), anchor, target)
    }
  })

  it.each(pages)("name existing files of the project: %s", (page) => {
    for (const [, path = ""] of read(page).matchAll(/`((?:src|docs|bench|prove|migrations|deploy)\/[\w./-]*)`/g)) {
      assert.isTrue(existsSync(new URL(path, root)), path)
    }
  })

  it("are listed once each in docs/README.md", () => {
    const described = [...read("docs/README.md").matchAll(/^(?:-|\d\.) \[[^\]]+\]\(([^)]+)\)/gm)].map(
      ([, file = ""]) => file
    )
    const all = inDocs.filter((file) => file !== "README.md" && !/^adr\/\d/.test(file))
    assert.sameMembers(
      described.filter((file) => !file.startsWith("../")),
      all
    )
  })
})

describe("docs/how-to/troubleshoot.md", () => {
  it("explains every reason of a refusal", () => {
    const explained = [...read("docs/how-to/troubleshoot.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, reason]) => reason)
    assert.includeMembers(explained, [...RefusalReason.literals])
  })
})

describe("docs/architecture.md", () => {
  it("lists every folder and file at the top of src", () => {
    const [, drawn = ""] = /\nsrc\/\n((?: {2}.*\n)+)/.exec(section("Folders")) ?? []
    const names = [...drawn.matchAll(/^ {2}( {2})?([\w.]+\/?) {2}/gm)].map(([, deep, name = ""]) =>
      deep === undefined ? name : `providers/${name}`
    )
    const entries = (path: string) =>
      readdirSync(new URL(path, root), { withFileTypes: true }).map((entry) =>
        entry.isDirectory() ? `${entry.name}/` : entry.name
      )
    const rooms = entries("src/providers").filter((name) => name.endsWith("/"))
    assert.sameMembers(names, [...entries("src"), ...rooms.map((name) => `providers/${name}`)])
  })

  it("names existing files", () => {
    const files = new Set(list("src", true).map((file) => file.replace(/^.*\//, "")))
    const named = [...architecture.matchAll(/`(\w+\.ts)`/g)].map(([, file = ""]) => file)
    assert.isAbove(named.length, 20)
    for (const file of named) assert.isTrue(files.has(file), file)
  })

  it("links to every decision record, each listed once in docs/adr/README.md", () => {
    const listed = [...read("docs/adr/README.md").matchAll(/^- \[\d{4} [^\]]+\]\(([^)]+)\)$/gm)].map(
      ([, file = ""]) => file
    )
    assert.isAbove(listed.length, 20)
    assert.deepStrictEqual(
      listed,
      list("docs/adr")
        .filter((file) => /^\d{4}-/.test(file))
        .sort()
    )
    assert.include(section("Decisions"), "(adr/README.md)")
  })

  it.each(inDocs.filter((file) => /^adr\/\d/.test(file)))("has context, decision and consequences in %s", (file) => {
    const headings = [...read(`docs/${file}`).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    assert.deepStrictEqual(headings, ["Context", "Decision", "Consequences"])
  })
})
