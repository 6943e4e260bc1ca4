import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import * as Insight from "../../src/reading/Insight.ts"
import { bombs } from "./Bombs.ts"

describe("A costly message of 1 MiB", () => {
  it.for(bombs.map(({ build, name }) => [name, build] as const))("is parsed within its time limit: %s", ([, build]) => {
    const message = build()
    // CPU time, which does not depend on the load of the machine.
    const before = process.cpuUsage()
    const contents = Mime.read(message)
    for (const { hiddenText, links, lines, text } of contents.seen()) {
      assert.isAtMost(text.length + hiddenText.length, 512 * 1024)
      assert.isAtMost(links.length + lines.length, 60_000)
    }
    assert.isAtMost(JSON.stringify(contents.extracted()).length, 32 * 1024)
    const { system, user } = process.cpuUsage(before)
    assert.isBelow((system + user) / 1_000_000, 2)
    assert.isBelow(JSON.stringify(contents).length, 7 * 1_048_576)

    const beforeReply = process.cpuUsage()
    const { reply } = Insight.of(contents, "ada@sender.example")
    const looking = process.cpuUsage(beforeReply)
    assert.isBelow((looking.system + looking.user) / 1_000_000, 2)
    assert.isAtMost(reply?.length ?? 0, 64 * 1_024)
  })

  it("is unchanged HTML for any number of references to an image", () => {
    const images = bombs.find(({ name }) => name === "an image named 60,000 times")
    const { html } = Mime.read(images?.bytes ?? new Uint8Array())
    assert.match(html ?? "", /^(<img src=cid:x>){60000,}$/)
  })
})
