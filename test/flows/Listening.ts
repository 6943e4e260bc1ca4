import { NodeServices } from "@effect/platform-node"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Receiver from "../../prove/Receiver.ts"
import * as Sender from "../../prove/Sender.ts"
import * as Service from "../../prove/Service.ts"
import * as Database from "../../src/database/Database.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Program from "../Program.ts"

export interface Options {
  readonly mails: number
  /** How often the client is killed with -9, and as often the service. */
  readonly kills: number
  readonly perSecond: number
  /** Beside `--forward-to`. */
  readonly flags: ReadonlyArray<string>
  /** Whether the minute that a lease of the dead lasts is waited for, or taken as over. */
  readonly leases: "waited for" | "taken as over"
}

/** The minute goes by. An embedded database has none of the service's own left after a start. */
const endLeases = Effect.fnUntraced(function* (url: string) {
  const sql = Context.get(yield* Layer.build(Database.layerPostgres(Redacted.make(url))), SqlClient.SqlClient)
  yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE leased_until > now()`
  yield* sql`UPDATE deliveries SET leased_until = now() WHERE leased_until > now()`
}, Effect.scoped)

/** `inlet listen --forward-to …` as a process that is killed and started again, with one file for its place. */
const client = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Program.Options["env"]) {
  const parent = yield* Effect.scope
  let program: Program.Program | undefined
  const spawned = Effect.gen(function* () {
    const started = yield* Scope.provide(Program.inlet(args, env), yield* Scope.fork(parent))
    program = started
    const begun = Effect.as(started.says("Ctrl-C stops"), true)
    return yield* Effect.race(begun, Effect.as(started.exitCode, false))
  })
  return {
    // It ends where the service is not there: whoever keeps it running starts it again.
    start: Effect.repeat(spawned, { until: (hasBegun) => hasBegun }),
    kill: Effect.suspend(() =>
      program === undefined ? Effect.void : Effect.andThen(program.kill("SIGKILL"), Effect.exit(program.exitCode))
    )
  }
})

/** Sends mail without a pause while client and service are killed in turn, and sees what the app has got of it. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const { flags, kills, leases, mails, perSecond } = options
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
  const installation = yield* InletProcess.installation
  const service = yield* Service.make({ ...installation, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") })
  const { url } = yield* service.start
  const workspace = yield* service.call("POST", "/api/workspaces", { body: { name: "developer" } })
  const key = workspace.json.api_key as string
  const { json: inbox } = yield* service.call("POST", "/api/instant-inbox", { key })
  const app = yield* Receiver.make
  yield* app.trust(Redacted.make(workspace.json.webhook_signing_secret))
  const listener = yield* client(["listen", "--forward-to", app.url, ...flags], {
    INLET_URL: url,
    INLET_API_KEY: key,
    INLET_PROFILE: undefined,
    XDG_STATE_HOME: folder
  })
  yield* listener.start

  const began = yield* Clock.currentTimeMillis
  const sender = yield* Sender.make({ ports: [service.smtpPort], to: inbox.address, name: "mail", perSecond })
  /** The app gets something anew. */
  const flowing = Effect.suspend(() => {
    const before = app.events.size
    return eventually(
      Effect.sync(() => app.events.size),
      (size) => size > before + 1,
      "100 seconds"
    )
  })
  const killed = <E, R>(victim: { readonly kill: Effect.Effect<void>; readonly start: Effect.Effect<unknown, E, R> }) =>
    flowing.pipe(Effect.andThen(victim.kill), Effect.andThen(victim.start), Effect.replicateEffect(kills))
  yield* Effect.all([killed(listener), killed(service)], { concurrency: 2 })
  const accepted = () => sender.sent.filter(({ acceptedAt }) => acceptedAt !== undefined)
  yield* eventually(
    Effect.sync(() => accepted().length),
    (count) => count >= mails,
    "10 minutes"
  )
  yield* sender.finish
  const over = leases === "taken as over" ? installation.DATABASE_URL : undefined
  const isMissing = ({ marker }: Sender.Sent) => ![...app.events.values()].some((event) => event.marker === marker)
  yield* eventually(
    Effect.andThen(
      over === undefined ? Effect.void : endLeases(over),
      Effect.sync(() => accepted().filter(isMissing).length)
    ),
    (missing) => missing === 0,
    "100 seconds"
  )
  const seconds = Math.round(Duration.toSeconds(Duration.millis((yield* Clock.currentTimeMillis) - began)))

  const list = Effect.fnUntraced(function* (path: string) {
    const all: Array<Answer["json"]> = []
    for (let cursor: string | null = ""; cursor !== null; ) {
      const from: string = cursor === "" ? "" : `&cursor=${cursor}`
      const { json }: Answer = yield* service.call("GET", `/api/domains/${inbox.domain_id}/${path}limit=100${from}`, {
        key
      })
      all.push(...(json.events ?? json.deliveryAttempts))
      cursor = json.next_cursor
    }
    return all
  })
  return {
    seconds,
    accepted: accepted().length,
    received: app.events.size,
    /** Requests beyond the first of an event. */
    repeated: [...app.events.values()].reduce((sum, { requests }) => sum + requests - 1, 0),
    missing: accepted()
      .filter(isMissing)
      .map(({ marker }) => marker),
    /** Requests that one of two libraries did not believe. */
    rejected: app.rejected,
    events: yield* list("events?view=brief&"),
    attempts: yield* list("delivery-attempts?")
  }
}, Effect.provide(NodeServices.layer))
