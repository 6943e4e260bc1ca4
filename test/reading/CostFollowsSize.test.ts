import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../src/content/html/Content.ts"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"
import { costBombs } from "../mime/CostBombs.ts"

/** Five times the worst cost that `npm run fuzz:climb` finds, a margin for slow or busy machines. */
const millisPerMebibyte = 1_000
const millisOfAny = 100

const whole = { part: "full", format: "markdown", maxChars: 100_000, offset: 0 } as const

describe("The CPU time of a mail", () => {
  it.for(costBombs.map(({ build, name }) => [name, build] as const))(
    "grows linearly with its size: %s",
    ([, build]) => {
      const message = build()
      const before = process.threadCpuUsage()
      const contents = Mime.read(message)
      contents.extracted()
      const { reply } = Insight.of(contents, "ada@sender.example")
      const read = process.threadCpuUsage(before)
      const beforeContent = process.threadCpuUsage()
      Content.read({ text: contents.text, html: contents.html, reply }, whole)
      const content = process.threadCpuUsage(beforeContent)
      const allowed = millisOfAny + (millisPerMebibyte * message.length) / 1_048_576
      for (const { system, user } of [read, content]) assert.isBelow((system + user) / 1_000, allowed)
    }
  )
})
