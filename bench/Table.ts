import { Effect, FileSystem } from "effect"

const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

export const render = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n")

/** Replaces the text between `<!-- name -->` and `<!-- end name -->` of a page. */
export const write = Effect.fnUntraced(function* (page: string, name: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const before = yield* fs.readFileString(page)
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- end ${name} -->`]
  const [from, to] = [before.indexOf(start), before.indexOf(end)]
  if (from < 0 || to < from) return yield* Effect.die(new Error(`${page} has no place for ${name}`))
  yield* fs.writeFileString(page, `${before.slice(0, from + start.length)}\n${text}\n\n${before.slice(to)}`)
})
