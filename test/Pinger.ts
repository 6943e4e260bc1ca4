import { type MessagePort, parentPort, Worker, workerData } from "node:worker_threads"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import * as SmtpDialog from "./SmtpDialog.ts"

/** The slowest answers since the last report, in milliseconds. */
export interface Slowest {
  readonly api: number
  readonly smtp: number
  /** How late a timer of the client was, which is the delay by the machine alone. */
  readonly timer: number
}

interface Target {
  readonly url: string
  readonly smtpPort: number
}

/**
 * A second client that calls the API and sends NOOP repeatedly, in a separate thread, so that a busy test does not
 * look like a slow service.
 */
export const make = Effect.fnUntraced(function* ({ smtpPort, url }: Target) {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(new URL(import.meta.url), { workerData: { smtpPort, url }, execArgv: [] })),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const look = Effect.callback<Slowest>((resume) => {
    worker.once("message", (slowest: Slowest) => resume(Effect.succeed(slowest)))
    worker.postMessage("look")
  })
  return { look }
})

const ping = Effect.fnUntraced(function* (port: MessagePort, { smtpPort, url }: Target) {
  let slowest = { api: 0, smtp: 0, timer: 0 }
  /** Includes the elapsed time of pending requests. */
  const since: { api: number | undefined; smtp: number | undefined } = { api: undefined, smtp: undefined }
  const note = (of: "api" | "smtp") => {
    const began = since[of]
    if (began !== undefined) slowest[of] = Math.max(slowest[of], performance.now() - began)
  }
  const timed = <A>(of: "api" | "smtp", answer: Effect.Effect<A>) =>
    Effect.gen(function* () {
      since[of] = performance.now()
      const answered = yield* answer
      note(of)
      since[of] = undefined
      yield* Effect.sleep("20 millis")
      return answered
    })

  const client = yield* HttpClient.HttpClient
  const api = Effect.forever(timed("api", Effect.ignore(client.get(`${url}/health`))))

  // A session is closed after 100 idle commands.
  const session = Effect.scoped(
    Effect.gen(function* () {
      const { say } = yield* SmtpDialog.open(smtpPort)
      for (let said = 0; said < 80; said++) yield* timed("smtp", say("NOOP"))
      yield* say("QUIT")
    })
  )

  port.on("message", () => {
    note("api")
    note("smtp")
    port.postMessage(slowest)
    slowest = { api: 0, smtp: 0, timer: 0 }
  })
  const timer = Effect.forever(
    Effect.gen(function* () {
      const began = performance.now()
      yield* Effect.sleep("20 millis")
      slowest.timer = Math.max(slowest.timer, performance.now() - began - 20)
    })
  )
  yield* Effect.all([api, Effect.forever(session), timer], { concurrency: 3, discard: true })
}, Effect.provide(NodeHttpClient.layerUndici))

if (parentPort !== null && workerData?.smtpPort !== undefined) Effect.runFork(ping(parentPort, workerData))
