import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Mime from "../../src/reading/Mime.ts"
import { bombs } from "./Bombs.ts"

describe("A mebibyte made to keep the parser busy", () => {
  it.live.each(bombs.map(({ build, name }) => [name, build] as const))("is read in no time: %s", ([, build]) =>
    Effect.gen(function* () {
      const [duration, contents] = yield* Effect.timed(Mime.read(build()))
      assert.isBelow(Duration.toSeconds(duration), 2)
      assert.isBelow(JSON.stringify(contents).length, 7 * 1_048_576)
    })
  )

  it.effect("is HTML as it was sent, however often it names an image", () =>
    Effect.gen(function* () {
      const images = bombs.find(({ name }) => name === "an image named 60,000 times")
      const { html } = yield* Mime.read(images?.bytes ?? new Uint8Array())
      assert.match(html ?? "", /^(<img src=cid:x>){60000,}$/)
    })
  )
})
