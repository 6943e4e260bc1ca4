import { execFileSync } from "node:child_process"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Disk from "../../prove/Disk.ts"
import * as Readiness from "../../src/health/Readiness.ts"
import * as Platform from "../../src/process/Platform.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import { S3Server } from "../simulators/S3Server.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"

/** The `/ready` answer of a process with these roles and a raw store that cannot be written. */
const said = (roles: string, writable: RawStore["Service"]["writable"] = Effect.void) =>
  Readiness.make("process").pipe(
    Effect.flatMap((ready) => Effect.match(ready, { onFailure: ({ message }) => message, onSuccess: () => "ready" })),
    Effect.provide([
      Layer.mock(RawStore, { writable, segments: Segments.none }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ROLES: roles } })),
      Logger.layer([])
    ]),
    Effect.scoped
  )

const full = new RawStoreError({ cause: "No space left on device" })
const noStore = "Raw messages can't be written: see whether their disk is full (df, df -i) or their bucket gone"
const noDatabase = "The database takes no writes: see whether its disk is full (df, df -i), or whether it is a standby"

layer(TestDatabase.layer, { excludeTestServices: true })("A process is ready", (it) => {
  it.effect("if database and raw store accept writes, or without the role smtp the database alone", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said("http,smtp,worker"), "ready")
      assert.strictEqual(yield* said("http,smtp", full), noStore)
      assert.strictEqual(yield* said("http,worker", full), "ready")
    })
  )

  it.effect("only if the database accepts writes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'cannot execute INSERT in a read-only transaction' USING ERRCODE = '25006'; END $$
      `
      yield* sql`CREATE TRIGGER read_only BEFORE INSERT ON write_trials EXECUTE FUNCTION refuse()`
      assert.strictEqual(yield* said("http,worker"), noDatabase)
      yield* sql`DROP TRIGGER read_only ON write_trials`
      assert.strictEqual(yield* said("http,worker"), "ready")
    })
  )

  it.effect("by one probe in 5 s for any number of requests", () =>
    Effect.gen(function* () {
      let looks = 0
      const ready = yield* Readiness.make("process").pipe(
        Effect.provide([
          Layer.mock(RawStore, { writable: Effect.sync(() => void looks++), segments: Segments.none }),
          ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))
        ])
      )
      yield* Effect.all(
        Array.from({ length: 20 }, () => ready),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(looks, 1)
      yield* TestClock.adjust("4900 millis")
      yield* ready
      assert.strictEqual(looks, 1)
      yield* TestClock.adjust("200 millis")
      yield* ready
      assert.strictEqual(looks, 2)
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
  )
})

describe("/ready", () => {
  it.live("is 503 within a few seconds while the disk of raw messages hangs", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-ready-" })
      const inlet = yield* Layer.build(TestInlet.layer({ RAW_DIR: root }))
      const { call } = Context.get(inlet, TestInlet)
      // Opening a pipe for writing waits until somebody reads it.
      const pipe = `${root}/segments/writable`
      execFileSync("mkfifo", [pipe])
      const letGo = Effect.scoped(Effect.ignore(fs.open(pipe, { flag: "r+" })))
      yield* Effect.addFinalizer(() => letGo)
      const { json, status } = yield* Effect.timeout(call("GET", "/ready"), "10 seconds")
      assert.deepStrictEqual([status, json.error], [503, noStore])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is 503 while the raw message disk is full, and 200 again afterwards", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const disk = yield* Disk.make(`${yield* fs.makeTempDirectoryScoped({ prefix: "inlet-ready-" })}/raw`)
      const context = yield* Layer.build(RawStoreFile.layer(disk.folder).pipe(Layer.provide(Platform.layer)))
      const { writable } = Context.get(context, RawStore)
      yield* writable
      yield* Effect.scoped(Effect.andThen(disk.full, Effect.flip(writable)))
      yield* writable
      assert.deepStrictEqual(yield* fs.readDirectory(`${disk.folder}/segments`), [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

const InBucket = Layer.unwrap(Effect.map(S3Server, ({ settings }) => TestInlet.layer(settings))).pipe(
  Layer.provideMerge(S3Server.layer)
)

layer(InBucket, { excludeTestServices: true })("/ready", (it) => {
  it.effect("is 503 while the bucket is gone, and 200 again afterwards", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const status = Effect.map(inlet.call("GET", "/ready"), ({ status }) => status)
      assert.strictEqual(yield* status, 200)
      yield* server.drop(true)
      yield* eventually(status, (status) => status === 503)
      assert.strictEqual((yield* inlet.call("GET", "/ready")).json.error, noStore)
      yield* server.drop(false)
      yield* eventually(status, (status) => status === 200)
    })
  )
})
