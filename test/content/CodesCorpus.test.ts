import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Config, Effect, FileSystem } from "effect"
import * as Mime from "../../src/mime/Mime.ts"
import * as Needs from "../Needs.ts"

describe("The messages of the corpus", () => {
  it.effect(
    "yield no code with certainty, because none has one",
    () =>
      Effect.gen(function* () {
        const folder = yield* Config.String("CORPUS_DIR")
        const fs = yield* FileSystem.FileSystem
        const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".eml"))
        assert.isAtLeast(files.length, 300)
        const sure: Array<string> = []
        for (const file of files) {
          const { code } = Mime.read(yield* fs.readFile(`${folder}/${file}`)).extracted()
          if (code?.confidence === "high") sure.push(`${file}: ${code.shown}`)
        }
        assert.deepStrictEqual(sure, [])
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.corpus)
  )
})
