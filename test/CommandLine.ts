import { NodeServices } from "@effect/platform-node"
import { Cause, ConfigProvider, Console, Effect, Exit, Layer, Runtime, Sink, Stdio } from "effect"
import { program } from "../src/cli/Program.ts"

/**
 * Runs `inlet …` in this process with only this environment. Returns its output and exit code. A process for each
 * command would cost most of a second of CPU time. Tests that need a terminal, a pipe or a signal use `Program`.
 * `printed` has the output so far of a command that goes on.
 */
export const run = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>> = {},
  printed = { stdout: "", stderr: "" }
) {
  const print = (stream: keyof typeof printed, text: string) => {
    printed[stream] += text
  }
  const line =
    (stream: keyof typeof printed) =>
    (...texts: ReadonlyArray<unknown>) =>
      print(stream, `${texts.join(" ")}\n`)
  const write = (stream: keyof typeof printed) => (chunk: string | Uint8Array) =>
    Effect.sync(() => print(stream, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()))
  const stdio = Stdio.layerTest({
    args: Effect.succeed(args),
    stdout: () => Sink.forEach(write("stdout")),
    stderr: () => Sink.forEach(write("stderr"))
  })
  const exit = yield* program.pipe(
    Effect.provide(Layer.provideMerge(stdio, NodeServices.layer)),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: defined(env) })),
    Effect.provideService(Console.Console, {
      ...(yield* Console.Console),
      log: line("stdout"),
      error: line("stderr")
    }),
    Effect.exit
  )
  // An unexpected error is a bug and not a line for the user.
  if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) return yield* Effect.die(Cause.squash(exit.cause))
  const code = yield* Effect.callback<number>((resume) =>
    Runtime.defaultTeardown(exit, (code) => resume(Effect.succeed(code)))
  )
  return { ...printed, code }
})

const defined = (env: Readonly<Record<string, string | undefined>>) => {
  const all: Record<string, string> = { NO_COLOR: "1" }
  for (const [name, value] of Object.entries(env)) if (value !== undefined) all[name] = value
  return all
}
