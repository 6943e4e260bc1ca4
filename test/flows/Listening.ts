import { NodeServices } from "@effect/platform-node"
import { Clock, Context, Effect, FileSystem, Layer, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Receiver from "../../prove/Receiver.ts"
import * as Sender from "../../prove/Sender.ts"
import * as Service from "../../prove/Service.ts"
import * as SmtpCarrier from "../../prove/SmtpCarrier.ts"
import * as Database from "../../src/database/Database.ts"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Program from "../Program.ts"

export interface Options {
  /** Mails for each app. */
  readonly mails: number
  /** How often each listener and the service are killed with -9. */
  readonly kills: number
  readonly perSecond: number
  /** Flags for each app beside `--forward-to`. */
  readonly apps: ReadonlyArray<ReadonlyArray<string>>
  /** Whether to wait for the 60 s lease of a dead process, or to expire it at once. */
  readonly leases: "waited for" | "taken as over"
}

/** Expires the leases of 60 s. */
const endLeases = Effect.fnUntraced(function* <E, R>(database: Layer.Layer<SqlClient.SqlClient, E, R>) {
  const sql = Context.get(yield* Layer.build(database), SqlClient.SqlClient)
  yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE leased_until > now()`
  yield* sql`UPDATE deliveries SET leased_until = now() WHERE leased_until > now()`
}, Effect.scoped)

/** Runs `inlet listen --forward-to …` as a process that is killed and restarted, with one position file. */
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
    // A listener exits while the service is down. Like a supervisor, this restarts it after a second.
    start: Effect.repeat(spawned, { until: (hasBegun) => hasBegun, schedule: Schedule.spaced("1 second") }),
    kill: Effect.suspend(() =>
      program === undefined ? Effect.void : Effect.andThen(program.kill("SIGKILL"), Effect.exit(program.exitCode))
    )
  }
})

/** An inbox, an app, a listener between them, and continuous mail. */
const developer = Effect.fnUntraced(function* (
  service: Service.Service,
  name: string,
  flags: ReadonlyArray<string>,
  { mails, perSecond }: Options
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
  const workspace = yield* service.call("POST", "/api/workspaces", { body: { name } })
  const key = workspace.json.api_key as string
  const { json: inbox } = yield* service.call("POST", "/api/instant-inbox", { key })
  const app = yield* Receiver.make
  yield* app.trust(Redacted.make(workspace.json.webhook_signing_secret))
  const listener = yield* client(["listen", "--forward-to", app.url, ...flags], {
    INLET_URL: service.url,
    INLET_API_KEY: key,
    INLET_PROFILE: undefined,
    XDG_STATE_HOME: folder
  })
  yield* listener.start
  const sender = yield* Sender.make({
    carrier: SmtpCarrier.make({ ports: [service.smtpPort], to: inbox.address }),
    to: inbox.address,
    name,
    perSecond
  })
  const accepted = () => sender.sent.filter(({ acceptedAt }) => acceptedAt !== undefined)
  const missing = () => {
    const heard = new Set([...app.events.values()].map(({ marker }) => marker))
    return accepted().flatMap(({ marker }) => (heard.has(marker) ? [] : [marker]))
  }
  const ask = (path: string) => service.call("GET", `/api/domains/${inbox.domain_id}/${path}`, { key })

  const list = Effect.fnUntraced(function* (path: string) {
    const all: Array<Answer["json"]> = []
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { json }: Answer = yield* ask(`${path}limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`)
      all.push(...(json.events ?? json.deliveryAttempts))
      cursor = json.next_cursor
    }
    return all
  })

  return {
    listener,
    /** The app receives another mail. */
    flowing: Effect.suspend(() => {
      const before = app.events.size
      return eventually(
        Effect.sync(() => app.events.size),
        (size) => size > before + 1,
        "100 seconds"
      )
    }),
    /** All mail is sent. */
    finish: Effect.andThen(
      eventually(
        Effect.sync(() => accepted().length),
        (count) => count >= mails,
        "10 minutes"
      ),
      sender.finish
    ),
    seen: Effect.gen(function* () {
      yield* eventually(Effect.sync(missing), ({ length }) => length === 0, "150 seconds")
      // A delivery that was made but not reported before a kill is repeated.
      yield* eventually(ask("events?delivery=pending"), ({ json }) => json.events?.length === 0, "150 seconds")
      return {
        accepted: accepted().length,
        received: app.events.size,
        /** Repeated requests for an event. */
        repeated: [...app.events.values()].reduce((sum, { requests }) => sum + requests - 1, 0),
        missing: missing(),
        /** Requests that failed verification by one of two libraries. */
        rejected: app.rejected,
        events: yield* list("events?view=brief&"),
        attempts: yield* list("delivery-attempts?")
      }
    })
  }
})

/**
 * Sends mail for several apps while their listeners and the service are killed repeatedly. Returns what each app
 * received.
 */
export const run = Effect.fnUntraced(function* (options: Options) {
  const { apps, kills, leases } = options
  const installation = yield* InletProcess.installation
  const { DATABASE_URL, DATA_DIR } = installation
  const service = yield* Service.make({ ...installation, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") })
  yield* service.start
  const began = yield* Clock.currentTimeMillis
  const developers = yield* Effect.forEach(
    apps,
    (flags, index) => developer(service, `mail-${index + 1}`, flags, options),
    { concurrency: "unbounded" }
  )
  const killed = <E, R>(
    victim: { readonly kill: Effect.Effect<void>; readonly start: Effect.Effect<unknown, E, R> },
    flowing: Effect.Effect<unknown>
  ) => flowing.pipe(Effect.andThen(victim.kill), Effect.andThen(victim.start), Effect.replicateEffect(kills))
  const allFlow = Effect.forEach(developers, ({ flowing }) => flowing, { concurrency: "unbounded" })
  yield* Effect.all(
    [...developers.map(({ flowing, listener }) => killed(listener, flowing)), killed(service, allFlow)],
    { concurrency: "unbounded" }
  )
  yield* Effect.forEach(developers, ({ finish }) => finish, { concurrency: "unbounded" })
  if (leases === "taken as over") {
    yield* DATABASE_URL === undefined
      ? // One process at a time.
        service.kill.pipe(Effect.andThen(endLeases(EmbeddedDatabase.layer(DATA_DIR))), Effect.andThen(service.start))
      : endLeases(Database.layerPostgres(Redacted.make(DATABASE_URL)))
  }
  const seen = yield* Effect.forEach(developers, ({ seen }) => seen, { concurrency: "unbounded" })
  return { seen, seconds: Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000) }
}, Effect.provide(NodeServices.layer))
