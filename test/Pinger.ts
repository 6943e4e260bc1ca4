import { request } from "node:http"
import { connect } from "node:net"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { Effect } from "effect"

/** The slowest answers since the last look, in milliseconds. */
export interface Slowest {
  readonly api: number
  readonly smtp: number
}

/**
 * Somebody else who uses the service meanwhile: asks the API and says NOOP, again and
 * again, in a thread of its own, so that a busy test does not count as a slow service.
 */
export const make = Effect.fnUntraced(function* ({ smtpPort, url }: { readonly url: string; readonly smtpPort: number }) {
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

const ping = ({ smtpPort, url }: { readonly smtpPort: number; readonly url: string }) => {
  let slowest = { api: 0, smtp: 0 }
  /** What is under way counts too, as long as it has taken so far. */
  const since: { api: number | undefined; smtp: number | undefined } = { api: undefined, smtp: undefined }
  const note = (of: "api" | "smtp") => {
    const began = since[of]
    if (began !== undefined) slowest[of] = Math.max(slowest[of], performance.now() - began)
  }

  const askApi = () => {
    since.api = performance.now()
    const asked = request(`${url}/health`, (response) => {
      response.resume()
      response.on("end", () => {
        note("api")
        since.api = undefined
        setTimeout(askApi, 20)
      })
    })
    asked.on("error", () => setTimeout(askApi, 20))
    asked.end()
  }

  // An idle session is ended after a hundred of them.
  const session = () => {
    let said = 0
    const socket = connect(smtpPort, "127.0.0.1")
    const say = () => {
      if (said++ > 80) socket.end("QUIT\r\n")
      else {
        since.smtp = performance.now()
        socket.write("NOOP\r\n")
      }
    }
    socket.on("data", () => {
      note("smtp")
      since.smtp = undefined
      setTimeout(say, 20)
    })
    socket.on("error", () => undefined)
    socket.on("close", () => {
      since.smtp = undefined
      setTimeout(session, 20)
    })
  }

  parentPort?.on("message", () => {
    note("api")
    note("smtp")
    parentPort?.postMessage(slowest)
    slowest = { api: 0, smtp: 0 }
  })
  askApi()
  session()
}

if (!isMainThread && workerData?.smtpPort !== undefined) ping(workerData)
