import { Effect, Stdio, Stream } from "effect"

const width = 30

const textOf = (done: number, total: number, words: string) => {
  const full = total === 0 ? width : Math.min(width, Math.floor((done / total) * width))
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${words}`
}

/** Draws a bar over the current line of standard error. Draws nothing without a terminal. */
export const draw = Effect.fnUntraced(function* (done: number, total: number, words: string) {
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stderrIsTerminal)) return
  yield* write(`\r\u001b[K${textOf(done, total, words)}`)
})

/** Ends the line of the bar. */
export const end = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stderrIsTerminal) yield* write("\n")
})

const write = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr({ endOnDone: false }))))
