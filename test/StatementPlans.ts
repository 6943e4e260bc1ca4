import { connect, createServer, type Socket } from "node:net"
import { Effect, Schema } from "effect"
import * as Ports from "./Ports.ts"

/** A step of a plan in EXPLAIN (FORMAT JSON). */
export interface Step {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Step>
}

/** An executed statement with its plan. */
export interface Executed {
  readonly statement: string
  readonly plan: Step
  readonly milliseconds: number
}

const Explained = Schema.fromJsonString(
  Schema.Struct({
    "Query Text": Schema.String,
    // PostgreSQL's documented EXPLAIN output.
    Plan: Schema.Unknown
  })
)

/**
 * A loopback port in front of a PostgreSQL server that collects the plan of every statement, including those inside
 * triggers, with `auto_explain`. These are the plans that ran, for any client. The user must be a superuser to load
 * the module.
 */
export const before = Effect.fnUntraced(function* (server: URL, settings: Readonly<Record<string, string>> = {}) {
  const port = yield* Ports.free
  const sockets = new Set<Socket>()
  let executed: Array<Executed> = []

  const hear = (notice: string) => {
    const explained = Schema.decodeOption(Explained)(notice.slice(notice.indexOf("{")))
    if (explained._tag === "None") return
    executed.push({
      statement: explained.value["Query Text"],
      // The JSON of auto_explain has PostgreSQL's documented form.
      plan: explained.value.Plan as Step,
      milliseconds: Number(/([\d.]+) ms/.exec(notice)?.[1])
    })
  }

  const listener = createServer((client) => {
    const upstream = connect(Number(server.port || 5432), server.hostname)
    const listen = noticesOf(hear)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on("data", (chunk: Buffer) => {
        if (from === upstream) listen(chunk)
        to.write(chunk)
      })
      from.on("error", () => {})
      from.on("close", () => {
        to.destroy()
        sockets.delete(from)
      })
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void listener.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        listener.close()
      })
  )

  const options = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_level": "notice",
    "auto_explain.log_format": "json",
    "auto_explain.log_nested_statements": "on",
    ...settings
  }
  const url = new URL(server)
  url.hostname = "127.0.0.1"
  url.port = `${port}`
  url.searchParams.set("sslmode", "disable")
  url.searchParams.set(
    "options",
    Object.entries(options)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" ")
  )
  return {
    /** The server's URL through this proxy. */
    url: url.href.replaceAll("+", "%20"),
    /** The statements executed since the last call. */
    taken: Effect.sync(() => {
      const all = executed
      executed = []
      return all
    })
  }
})

/** Every step of a plan. */
export const steps = (plan: Step): ReadonlyArray<Step> => [plan, ...(plan.Plans ?? []).flatMap(steps)]

/** Finds the notices in server messages: a type, a length, and fields that end with a zero byte. */
const noticesOf = (hear: (message: string) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk: Buffer) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (rest.byteLength - at >= 5) {
      const end = at + 1 + rest.readUInt32BE(at + 1)
      if (end > rest.byteLength) break
      if (rest[at] === "N".charCodeAt(0)) {
        const fields = rest.toString("utf8", at + 5, end).split("\0")
        for (const field of fields) if (field.startsWith("M")) hear(field)
      }
      at = end
    }
    rest = rest.subarray(at)
  }
}
