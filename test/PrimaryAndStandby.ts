import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { serve } from "../prove/Cluster.ts"
import * as Database from "../src/database/Database.ts"
import { eventually } from "./Eventually.ts"

/** The name by which the primary knows its standby. */
const name = "second"

/** A migrated primary and a standby that follows it. No commit waits for the standby until `awaited`. */
export class PrimaryAndStandby extends Context.Service<
  PrimaryAndStandby,
  {
    readonly primary: Redacted.Redacted
    readonly standby: Redacted.Redacted
    /** Statements on the primary whose commits wait for no standby. */
    readonly sql: SqlClient.SqlClient
    /** Whether commits wait for the standby. */
    readonly awaited: (yes: boolean) => Effect.Effect<void>
    /** Stops the standby, or starts it and waits until it has followed. */
    readonly follows: (yes: boolean) => Effect.Effect<void>
  }
>()("inlet/test/PrimaryAndStandby") {
  static readonly layer = Layer.effect(
    PrimaryAndStandby,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-standby-" })
      // PostgreSQL runs as another user.
      yield* fs.chmod(folder, 0o755)
      const [first, second] = [path.join(folder, "first"), path.join(folder, "second")]
      yield* fs.makeDirectory(first)
      yield* fs.makeDirectory(second)
      const server = yield* serve(first)
      const from = `host=127.0.0.1 port=${server.port} user=postgres password=${server.password} application_name=${name}`
      yield* server.asOwner("pg_basebackup", "-d", from, "-D", path.join(first, "copy"), "--checkpoint=fast", "-R")
      yield* fs.rename(path.join(first, "copy"), path.join(second, "data"))
      yield* fs.writeFileString(path.join(second, "password"), server.password)
      yield* fs.writeFileString(path.join(second, "data", "postgresql.conf"), `primary_conninfo = '${from}'\n`, {
        flag: "a"
      })
      const copy = yield* serve(second)

      const local = new URL(Redacted.value(server.url))
      local.searchParams.set("options", "-c synchronous_commit=local")
      const services = yield* Layer.build(
        Database.migrations.pipe(Layer.provideMerge(Database.layerPostgres(Redacted.make(local.href))))
      )
      const sql = Context.get(services, SqlClient.SqlClient)
      const followers = sql`SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`

      return {
        primary: server.url,
        standby: copy.url,
        sql,
        awaited: (yes) =>
          Effect.gen(function* () {
            yield* sql`ALTER SYSTEM SET synchronous_standby_names = ${sql.literal(yes ? name : "''")}`
            yield* sql`SELECT pg_reload_conf()`
            yield* eventually(sql`SELECT current_setting('synchronous_standby_names') AS names`, ([row]) =>
              yes ? row?.names === name : row?.names === ""
            )
          }).pipe(Effect.orDie),
        follows: (yes) =>
          Effect.gen(function* () {
            yield* copy.control(...(yes ? ["start"] : ["stop", "--mode", "immediate"]))
            yield* eventually(followers, (rows) => rows.length === (yes ? 1 : 0))
          }).pipe(Effect.orDie)
      }
    })
  ).pipe(Layer.provide(NodeServices.layer), Layer.orDie)
}
