import { Config, Console, Effect, Stdio } from "effect"
import { Flag } from "effect/cli"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the answer as a line of JSON"),
  Flag.withDefault(false)
)

/** The mail is untrusted, so control characters are replaced. */
export const visible = (line: string) => line.replace(/[^\P{Cc}\t]/gu, "\uFFFD")

/** Prints an answer as one line of JSON, or as text. */
export const lines = (json: boolean, answer: unknown, text: ReadonlyArray<string>) =>
  json ? Console.log(JSON.stringify(answer)) : Console.log(text.map(visible).join("\n"))

/** One object, a field a line, without unset fields. */
export const record = (json: boolean, answer: object) => {
  const fields = Object.entries(answer).filter(([, value]) => value !== null)
  const width = Math.max(...fields.map(([name]) => name.length))
  return lines(
    json,
    answer,
    fields.map(([name, value]) => `${name.padEnd(width)}  ${textOf(value)}`)
  )
}

const textOf = (value: unknown) => {
  const plain = JSON.parse(JSON.stringify(value))
  return typeof plain === "string" ? plain : JSON.stringify(plain)
}

/**
 * Prints a list with a header: tab-separated for programs, aligned on terminals. For an empty list it prints a message
 * to standard error.
 */
export const table = Effect.fnUntraced(function* (
  json: boolean,
  answer: object,
  rows: ReadonlyArray<Readonly<Record<string, string>>>,
  none: string
) {
  if (json) return yield* Console.log(JSON.stringify(answer))
  const [first] = rows
  if (first === undefined) yield* Console.error(none)
  else {
    const cells = [
      Object.keys(first).map((name) => name.toUpperCase()),
      ...rows.map((row) => Object.values(row).map((cell) => visible(cell).replaceAll("\t", " ")))
    ]
    const stdio = yield* Stdio.Stdio
    const isTerminal = yield* stdio.stdoutIsTerminal
    const widths = Object.keys(first).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
    const texts = cells.map((row) =>
      isTerminal
        ? row
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join("  ")
            .trimEnd()
        : row.join("\t").trimEnd()
    )
    const isPlain = !isTerminal || (yield* Config.withDefault(Config.String("NO_COLOR"), "")) !== ""
    const [names = "", ...others] = texts
    yield* Console.log([isPlain ? names : `\u001b[1m${names}\u001b[0m`, ...others].join("\n"))
  }
  if ("next_cursor" in answer && answer.next_cursor !== null) {
    yield* Console.error(`More with --cursor ${answer.next_cursor}`)
  }
})
