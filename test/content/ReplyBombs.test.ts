import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"
import { bombs } from "../mime/Bombs.ts"

describe("A mebibyte made to keep the parser busy", () => {
  it.for(bombs.map(({ build, name }) => [name, build] as const))("is looked through in no time: %s", ([, build]) => {
    const contents = Mime.read(build())
    // What it costs, and not how long it takes on a busy machine.
    const before = process.cpuUsage()
    const { reply } = Insight.of(contents, "ada@sender.example")
    const { system, user } = process.cpuUsage(before)
    assert.isBelow((system + user) / 1_000_000, 2)
    assert.isAtMost(reply?.length ?? 0, 64 * 1_024)
  })
})
