import { fileURLToPath } from "node:url"
import { Effect, Fiber, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { eventually } from "./Eventually.ts"
import * as InletProcess from "./InletProcess.ts"

/** The folder of the project. */
export const root = fileURLToPath(new URL("..", import.meta.url))

/** A program in a separate process, killed with its children when the scope ends. */
export interface Program {
  readonly pid: number
  /** Its output so far. */
  readonly printed: Effect.Effect<string>
  /** Its standard output and standard error so far. */
  readonly stdout: Effect.Effect<string>
  readonly stderr: Effect.Effect<string>
  /** Waits until it prints this. Dies with its output on timeout. */
  says(text: string): Effect.Effect<string>
  /** Writes to its standard input. */
  type(text: string): Effect.Effect<void>
  readonly kill: (signal: "SIGTERM" | "SIGINT" | "SIGKILL") => Effect.Effect<void>
  /** Waits for its exit. */
  readonly exitCode: Effect.Effect<number>
}

export interface Options {
  /** Added to the environment of the tests. Undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
}

export const start = Effect.fnUntraced(function* (
  command: string,
  args: ReadonlyArray<string>,
  { cwd = root, env = {} }: Options = {}
) {
  const handle = yield* ChildProcess.make(command, args, {
    cwd,
    // No setting of the machine reaches the service under test.
    env: { NO_COLOR: "1", FORCE_COLOR: undefined, NODE_ENV: undefined, ...env },
    extendEnv: true,
    stdin: { stream: "pipe", endOnDone: false },
    forceKillAfter: "5 seconds"
  })
  let printed = ""
  let stdout = ""
  let stderr = ""
  const collect = (stream: typeof handle.stdout, keep: (text: string) => void) =>
    Effect.forkScoped(
      Stream.runForEach(Stream.decodeText(stream), (text) =>
        Effect.sync(() => {
          printed += text
          keep(text)
        })
      )
    )
  const reading = yield* Effect.all([
    collect(handle.stdout, (text) => {
      stdout += text
    }),
    collect(handle.stderr, (text) => {
      stderr += text
    })
  ])

  const program: Program = {
    pid: Number(handle.pid),
    printed: Effect.sync(() => printed),
    stdout: Effect.sync(() => stdout),
    stderr: Effect.sync(() => stderr),
    says: (text) =>
      eventually(
        Effect.sync(() => printed),
        (all) => all.includes(text)
      ),
    type: (text) => Stream.run(Stream.make(Buffer.from(text)), handle.stdin).pipe(Effect.orDie),
    // The library fails if the program has already ended.
    kill: (killSignal) => Effect.catch(handle.kill({ killSignal }), () => Effect.asVoid(Effect.exit(handle.exitCode))),
    exitCode: Effect.orDie(handle.exitCode).pipe(
      // All of its output has been read by then.
      Effect.tap(() => Effect.forEach(reading, Fiber.await)),
      Effect.map(Number)
    )
  }
  return program
})

/** Runs a program until it exits, for up to 300 s, because `npm pack` takes minutes on a busy machine. */
export const run = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>, options?: Options) {
  const program = yield* start(command, args, options)
  const code = yield* program.exitCode.pipe(Effect.timeout("300 seconds"), Effect.orDie)
  return { code, stdout: yield* program.stdout, stderr: yield* program.stderr }
}, Effect.scoped)

/** The script of `inlet …`. */
export const script = Effect.gen(function* () {
  if (!(yield* InletProcess.isBundled)) return "src/cli/main.ts"
  const ServiceBundle = yield* Effect.promise(() => import("./ServiceBundle.ts"))
  return yield* ServiceBundle.script("cli")
}).pipe(Effect.orDie)

/** Starts `inlet …` in the checkout. */
export const inlet = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Options["env"] = {}) {
  return yield* start(process.execPath, [yield* script, ...args], { env })
})

/** Runs `inlet …` in the checkout until it exits. */
export const inletRun = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Options["env"] = {}) {
  return yield* run(process.execPath, [yield* script, ...args], { env })
})
