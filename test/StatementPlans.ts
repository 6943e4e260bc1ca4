import { connect, createServer, type Socket } from "node:net"
import { Effect, Schema } from "effect"
import * as Ports from "./Ports.ts"

/** A step of a plan, as EXPLAIN (FORMAT JSON) tells it. */
export interface Step {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Step>
}

/** A statement that the server ran, and how. */
export interface Executed {
  readonly statement: string
  readonly plan: Step
  readonly milliseconds: number
}

const Explained = Schema.fromJsonString(
  Schema.Struct({
    "Query Text": Schema.String,
    // PostgreSQL's own account of it.
    Plan: Schema.Unknown
  })
)

/**
 * A loopback port before a PostgreSQL server. Whoever connects by its URL has every statement explained by
 * `auto_explain`, the ones inside triggers too, and what that says is collected here: whatever the client is and
 * however it sends them, these are the plans that ran. The user has to be a superuser, who alone may load it.
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
      // The shape of auto_explain's JSON is PostgreSQL's documented one.
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
    /** The server's URL, by way of this. */
    url: url.href.replaceAll("+", "%20"),
    /** What was executed since the last time this was asked. */
    taken: Effect.sync(() => {
      const all = executed
      executed = []
      return all
    })
  }
})

/** Every step of a plan. */
export const steps = (plan: Step): ReadonlyArray<Step> => [plan, ...(plan.Plans ?? []).flatMap(steps)]

/** Finds the notices in what a server sends: a type, a length, and fields that end with a zero. */
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
