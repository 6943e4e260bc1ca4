import { Effect, Exit, Scope } from "effect"
import { call } from "../test/ApiCall.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Ports from "../test/Ports.ts"

/** The service as a process that is killed and restarted on the same ports. */
export interface Service {
  readonly url: string
  readonly smtpPort: number
  readonly call: InletProcess.InletProcess["call"]
  /** Starts it and waits until it is ready. */
  readonly start: Effect.Effect<InletProcess.InletProcess>
  /** Starts it without waiting. */
  readonly spawn: Effect.Effect<void>
  /** Sends kill -9. */
  readonly kill: Effect.Effect<void>
  /** Whether it is running. */
  readonly lives: Effect.Effect<boolean>
  /** Its output over all restarts. */
  readonly printed: Effect.Effect<string>
}

export const make = Effect.fn("Service.make")(function* (settings: Readonly<Record<string, string>>) {
  const parent = yield* Effect.scope
  const env = { HTTP_PORT: `${yield* Ports.free}`, SMTP_PORT: `${yield* Ports.free}`, ...settings }
  const outputs: Array<Effect.Effect<string>> = []
  let life: Scope.Closeable | undefined
  let hasEnded = Effect.succeed(true)

  const kill = Effect.suspend(() => (life === undefined ? Effect.void : Scope.close(life, Exit.void)))

  const spawn = Effect.gen(function* () {
    yield* kill
    life = yield* Scope.fork(parent)
    const spawned = yield* Scope.provide(InletProcess.spawned(env), life)
    hasEnded = spawned.hasEnded
    outputs.push(spawned.inlet.output)
    return spawned
  })

  const url = `http://127.0.0.1:${env.HTTP_PORT}`
  const service: Service = {
    url,
    smtpPort: Number(env.SMTP_PORT),
    call: (method, path, options) => call(url, method, path, options),
    start: spawn.pipe(
      Effect.tap(InletProcess.serving),
      Effect.map(({ inlet }) => inlet)
    ),
    spawn: Effect.asVoid(spawn),
    kill,
    lives: Effect.map(
      Effect.suspend(() => hasEnded),
      (yes) => !yes
    ),
    printed: Effect.map(
      Effect.suspend(() => Effect.all(outputs)),
      (all) => all.join("")
    )
  }
  return service
})
