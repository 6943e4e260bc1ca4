import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as FileWriter from "../../../src/providers/storage/FileWriter.ts"

const bytes = new TextEncoder().encode("content")

const folder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-writer-" }))

/** A thread that ends at every file but those named so, which it says are written. */
const mortal = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads"
    parentPort.on("message", ({ file, id }) =>
      file.endsWith("fine") ? parentPort.postMessage([{ id, error: undefined }]) : process.exit(1)
    )
  `)}`
)

describe("The thread that writes files", () => {
  it.live("leaves nobody waiting when it ends, and another does what comes next", () =>
    Effect.gen(function* () {
      const write = yield* FileWriter.make(mortal)
      const failed = yield* Effect.all([Effect.flip(write("one", [bytes])), Effect.flip(write("two", [bytes]))], {
        concurrency: "unbounded"
      })
      for (const { cause } of failed) assert.match(String(cause), /the thread that writes files has ended/)
      yield* write("fine", [bytes])
    }).pipe(Effect.timeout("20 seconds"))
  )

  it.live("writes files of many folders at once, each whole", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folder
      const write = yield* FileWriter.make()
      const files = Array.from({ length: 60 }, (_, number) => `${root}/${number % 7}/${number}`)
      yield* Effect.forEach(files, (file) => write(file, [bytes, bytes]), { concurrency: "unbounded" })
      for (const file of files) assert.strictEqual(yield* fs.readFileString(file), "contentcontent")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
