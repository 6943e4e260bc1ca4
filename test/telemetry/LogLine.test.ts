import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References } from "effect"
import * as LogLine from "../../src/telemetry/LogLine.ts"

/** The text form of a log entry, without time and colors. */
const written = <A, E>(logged: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const keep = Logger.map(LogLine.forPeople, (text) => void lines.push(text))
    yield* logged.pipe(Effect.provide(Logger.layer([keep])), Effect.provideService(References.MinimumLogLevel, "Debug"))
    return lines
      .join("\n")
      .replace(/\u001b\[\d+m/g, "")
      .replaceAll(/^\d\d:\d\d:\d\d\.\d{3} /gm, "")
  })

describe("A log line in text format", () => {
  it.effect("has time, level, message and annotations, without a fiber id", () =>
    Effect.gen(function* () {
      const logged = Effect.logInfo("Listening on", { host: "::1", port: 3000 }).pipe(
        Effect.annotateLogs({ role: "http" })
      )
      assert.strictEqual(yield* written(logged), "INFO  Listening on host=::1 port=3000 role=http")
    })
  )

  it.effect("has its cause in the same line, with a stack for errors only", () =>
    Effect.gen(function* () {
      const cause = Cause.fail(new Error("the disk is full"))
      assert.strictEqual(yield* written(Effect.logWarning("Not kept", cause)), "WARN  Not kept: the disk is full")
      const [first, second, ...more] = (yield* written(Effect.logError("Not kept", cause))).split("\n")
      assert.strictEqual(first, "ERROR Not kept")
      assert.strictEqual(second, "    Error: the disk is full")
      for (const line of more) assert.match(line, /^ {4}/)
    })
  )

  it.effect("contains no line break and no terminal escape from its values", () =>
    Effect.gen(function* () {
      const logged = Effect.logInfo("HELO \u001b[31mEVIL\nINFO").pipe(Effect.annotateLogs({ helo: "a\rb\u009b" }))
      assert.strictEqual(yield* written(logged), "INFO  HELO \\x1b[31mEVIL\\x0aINFO helo=a\\x0db\\x9b")
    })
  )
})

describe("A log line in JSON", () => {
  it.effect("has one text as its message, with its annotations apart", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const keep = Logger.map(LogLine.forMachines, (text) => void lines.push(text))
      yield* Effect.all([Effect.logInfo("Started"), Effect.logInfo("It failed", "no answer")]).pipe(
        Effect.annotateLogs({ port: 25 }),
        Effect.provide(Logger.layer([keep]))
      )
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line)).map(({ annotations, message }) => [message, annotations]),
        [
          ["Started", { port: 25 }],
          ["It failed: no answer", { port: 25 }]
        ]
      )
    })
  )
})
