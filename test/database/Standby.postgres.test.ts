import { createServer, connect as dial, type Socket } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Checks from "../../src/cli/commands/Checks.ts"
import * as Database from "../../src/database/Database.ts"
import * as Readiness from "../../src/health/Readiness.ts"
import * as Platform from "../../src/process/Platform.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import { PrimaryAndStandby } from "../PrimaryAndStandby.ts"

const settings = (env: Readonly<Record<string, string>> = {}) =>
  ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ROLES: "http,worker", ...env } }))

/** The `/ready` answer of a process with this database. */
const ready = (url: Redacted.Redacted) =>
  Readiness.make("process").pipe(
    Effect.flatMap((look) => Effect.match(look, { onFailure: ({ message }) => message, onSuccess: () => "ready" })),
    Effect.provide([
      Layer.mock(RawStore, { writable: Effect.void, segments: Segments.none }),
      Database.layerPostgres(url),
      settings(),
      Logger.layer([])
    ])
  )

/** What `inlet doctor` says of this database. */
const doctor = (url: Redacted.Redacted) =>
  Checks.database.pipe(
    Effect.map(({ says, verdict }) => `${verdict}: ${says}`),
    Effect.provide([settings({ DATABASE_URL: Redacted.value(url) }), Platform.layer])
  )

const withOption = (url: Redacted.Redacted, option: string) => {
  const changed = new URL(Redacted.value(url))
  changed.searchParams.set("options", `-c ${option}`)
  return Redacted.make(changed.href)
}

/** A port that leads new connections to one server or the other, as after a failover. */
const switchOf = Effect.fnUntraced(function* (first: Redacted.Redacted) {
  const port = yield* Ports.free
  const sockets = new Set<Socket>()
  let target = new URL(Redacted.value(first))
  const listener = createServer((client) => {
    const server = dial(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, server],
      [server, client]
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on("error", () => {})
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
  const url = new URL(Redacted.value(first))
  url.port = `${port}`
  return {
    url: Redacted.make(url.href),
    lead: (to: Redacted.Redacted) =>
      Effect.sync(() => {
        target = new URL(Redacted.value(to))
      })
  }
})

describe("A primary with a standby", Needs.options(Needs.cluster), () => {
  layer(PrimaryAndStandby.layer, { excludeTestServices: true })("of PostgreSQL", (it) => {
    it.effect("is ready, and a standby is not", () =>
      Effect.gen(function* () {
        const { awaited, primary, standby } = yield* PrimaryAndStandby
        assert.strictEqual(yield* ready(primary), "ready")
        assert.match(yield* ready(standby), /^The database is a standby, which takes no writes/)
        assert.match(yield* doctor(standby), /^wrong: The database is a standby/)
        assert.match(yield* doctor(primary), /^note: PostgreSQL .* no commit waits for it/)
        yield* awaited(true)
        assert.strictEqual(yield* ready(primary), "ready")
        assert.match(yield* doctor(primary), /^good: PostgreSQL .*Commits wait for a standby \(second\)$/)
        yield* awaited(false)
      })
    )

    it.effect("is not ready if a crash or a failover would lose mail that it confirmed", () =>
      Effect.gen(function* () {
        const { awaited, primary } = yield* PrimaryAndStandby
        const off = withOption(primary, "synchronous_commit=off")
        assert.match(yield* ready(off), /^synchronous_commit is off/)
        assert.match(yield* doctor(off), /^wrong: synchronous_commit is off/)
        const local = withOption(primary, "synchronous_commit=local")
        assert.strictEqual(yield* ready(local), "ready")
        yield* awaited(true)
        assert.match(yield* ready(local), /^synchronous_commit is local/)
        yield* awaited(false)
      })
    )

    it.effect("is not ready while commits wait for a standby that is gone", () =>
      Effect.gen(function* () {
        const { awaited, follows, primary } = yield* PrimaryAndStandby
        yield* awaited(true)
        yield* follows(false)
        assert.match(yield* ready(primary), /^No synchronous standby is connected/)
        assert.match(yield* doctor(primary), /^wrong: No synchronous standby is connected/)
        yield* follows(true)
        yield* eventually(ready(primary), (said) => said === "ready")
        yield* awaited(false)
      })
    )

    it.effect("loses all connections that led to the standby at the first write that it refuses", () =>
      Effect.gen(function* () {
        const { primary, standby } = yield* PrimaryAndStandby
        const { lead, url } = yield* switchOf(standby)
        const sql = Context.get(yield* Layer.build(Database.layerPostgres(url)), SqlClient.SqlClient)
        const twelve = <A, E>(work: Effect.Effect<A, E>) =>
          Effect.all(
            Array.from({ length: 12 }, () => work),
            { concurrency: "unbounded" }
          )
        // A session that has run nothing counts as one of the primary.
        yield* eventually(
          Effect.all([
            twelve(sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid, pg_sleep(0.2)`),
            sql<{ readonly open: number }>`
              SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database()
            `
          ]),
          ([used, [seen]]) => new Set(used.flat().map(({ pid }) => pid)).size === seen?.open
        )
        yield* lead(primary)
        const write = sql`INSERT INTO write_trials (tried_at) VALUES (now()) ON CONFLICT (one_row) DO NOTHING`
        assert.strictEqual((yield* Effect.flip(write)).reason._tag, "UnknownError")
        yield* twelve(write)
      })
    )
  })
})
