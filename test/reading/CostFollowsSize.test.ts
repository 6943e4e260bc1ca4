import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../src/content/html/Content.ts"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"
import { costBombs } from "../mime/CostBombs.ts"

/** Five times the worst cost that `npm run fuzz:climb` finds, a margin for slow or busy machines. */
const millisPerMebibyte = 1_000
const millisOfAny = 100

const whole = { part: "full", format: "markdown", maxChars: 100_000, offset: 0 } as const

/** The least CPU time of three runs in milliseconds: a collection of garbage, of all tests before, falls into one. */
const leastOf = (run: () => unknown) =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const before = process.threadCpuUsage()
      run()
      const { system, user } = process.threadCpuUsage(before)
      return (system + user) / 1_000
    })
  )

describe("The CPU time of a mail", () => {
  it.for(costBombs.map(({ build, name }) => [name, build] as const))(
    "grows linearly with its size: %s",
    ([, build]) => {
      const message = build()
      const read = () => {
        const contents = Mime.read(message)
        contents.extracted()
        return { contents, reply: Insight.of(contents, "ada@sender.example").reply }
      }
      const { contents, reply } = read()
      const content = () => Content.read({ text: contents.text, html: contents.html, reply }, whole)
      const allowed = millisOfAny + (millisPerMebibyte * message.length) / 1_048_576
      for (const run of [read, content]) assert.isBelow(leastOf(run), allowed)
    }
  )
})
