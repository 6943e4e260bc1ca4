import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Array as Arr, Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import pixelmatch from "pixelmatch"
import type { PNG } from "pngjs"
import * as SeenHtml from "../src/content/html/SeenHtml.ts"
import * as Mime from "../src/mime/Mime.ts"
import * as ShownText from "./ShownText.ts"
import { cases, type StyleCase } from "./StyleCases.ts"

// Compares what Inlet says of a word with pictures of Chromium, for every CSS property with extreme values. The word is
// visible if the picture changes when the word does.

const [word, other] = ["482913", "750648"]

/** Shares of the changed pixels of plain text. Between them nobody can say whether a person can read the word. */
const hiddenBelow = 0.1
const seenFrom = 0.4

type Verdict = "certain" | "uncertain" | "removed"

const verdictOf = (html: string): Verdict => {
  const { lines, text } = SeenHtml.see(html)
  if (!text.includes(word)) return "removed"
  const isUncertain = lines.some((line) =>
    line.uncertain?.some(([from, to]) => line.text.slice(from, to).includes(word))
  )
  return isUncertain ? "uncertain" : "certain"
}

const confidenceOf = (html: string) =>
  Mime.read(
    Buffer.from(`From: a@a.example\r\nSubject: Your code\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`)
  ).extracted().code?.confidence

const differenceOf = (one: PNG, two: PNG): number =>
  one.width === two.width && one.height === two.height
    ? pixelmatch(one.data, two.data, undefined, one.width, one.height, { threshold: 0.1 })
    : Number.POSITIVE_INFINITY

const plain: StyleCase = {
  name: "plain text",
  html: (text) => `<!doctype html><p>Hello there</p><div>Code ${text}</div>`
}

interface Judged {
  readonly each: StyleCase
  readonly verdict: Verdict
}

/** The cases that Inlet is sure of. An uncertain word is neither a leak nor lost. */
const judged: Effect.Effect<ReadonlyArray<Judged>> = Effect.sync(() =>
  cases.map((each) => ({ each, verdict: verdictOf(each.html(word)) })).filter(({ verdict }) => verdict !== "uncertain")
)

const program = Effect.fnUntraced(function* (browser: string, every: number, lists: boolean) {
  const chromium = yield* ShownText.launch(browser)
  const picture = yield* ShownText.photographer(chromium)
  const pictures = yield* ShownText.contactSheet(chromium)
  const changedAlone = Effect.fnUntraced(function* ({ html }: StyleCase) {
    return differenceOf(yield* picture(html(word)), yield* picture(html(other)))
  })
  const changed = Effect.fnUntraced(function* (some: ReadonlyArray<StyleCase>) {
    const found = yield* pictures(some.flatMap(({ html }) => [html(word), html(other)]))
    return some.map((_, index) => differenceOf(found[2 * index] as PNG, found[2 * index + 1] as PNG))
  })
  const whole = yield* changedAlone(plain)
  const sure = (yield* judged).filter((_, index) => index % every === 0)
  const counts = { cases: cases.length, certain: 0, removed: 0, leaks: 0, leaksAtHigh: 0, dropped: 0 }
  for (const some of Arr.chunksOf(sure, ShownText.mostPages / 2)) {
    const found = yield* changed(some.map(({ each }) => each))
    for (const [index, { each, verdict }] of some.entries()) {
      counts[verdict === "certain" ? "certain" : "removed"]++
      // A word beyond the edge of a small picture may be in a larger one.
      const isSeen = (found[index] ?? 0) / whole >= seenFrom
      if (isSeen && verdict === "certain") continue
      const share = (yield* changedAlone(each)) / whole
      if (verdict === "certain" && share < hiddenBelow) {
        const isHigh = confidenceOf(each.html(word)) === "high"
        counts.leaks++
        if (isHigh) counts.leaksAtHigh++
        if (lists) yield* Console.log(`leak${isHigh ? " at high" : ""} (${share.toFixed(2)}): ${each.name}`)
      } else if (verdict === "removed" && share >= seenFrom) {
        counts.dropped++
        if (lists) yield* Console.log(`dropped (${share.toFixed(2)}): ${each.name}`)
      }
    }
  }
  yield* Console.log(JSON.stringify(counts))
}, Effect.scoped)

const browser = Argument.String("chromium").pipe(
  Argument.withDescription("its program"),
  Argument.withDefault("/usr/bin/chromium")
)
const every = Flag.Int("every").pipe(Flag.withDescription("Every nth case only"), Flag.withDefault(1))
const lists = Flag.Boolean("list").pipe(Flag.withDescription("List leaks and dropped words"), Flag.withDefault(false))

const command = Command.make("tricks", { browser, every, lists }, ({ browser, every, lists }) =>
  program(browser, every, lists)
).pipe(Command.withDescription("Compares hidden and visible text with pictures of Chromium"))

Command.run(command, { version: "1" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
