import { NodeServices } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { Cluster } from "../../prove/Cluster.ts"
import * as Needs from "../Needs.ts"
import * as Backup from "./Backup.ts"

describe("A PostgreSQL of our own", Needs.options(Needs.cluster), () => {
  layer(Cluster.layer, { excludeTestServices: true })("A backup of a running service", (it) => {
    it.effect("from pg_dump and a copy of RAW_DIR runs in another database and folder", () =>
      Effect.gen(function* () {
        const cluster = yield* Cluster
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-backup-" })
        yield* cluster.program("createdb", "before")
        const settings = (database: string) => {
          const url = new URL(Redacted.value(cluster.url))
          url.pathname = `/${database}`
          return { DATABASE_URL: url.href, RAW_DIR: `${folder}/${database}`, DATA_DIR: `${folder}/data` }
        }
        yield* Backup.goesOn(settings("before"), () =>
          Effect.gen(function* () {
            yield* cluster.program("pg_dump", "--format=custom", `--file=${folder}/inlet.dump`, "before")
            yield* fs.copy(`${folder}/before`, `${folder}/after`)
            yield* cluster.program("createdb", "after")
            yield* cluster.program("pg_restore", "--exit-on-error", "--dbname=after", `${folder}/inlet.dump`)
            return settings("after")
          }).pipe(Effect.orDie)
        )
      }).pipe(Effect.provide(NodeServices.layer))
    )
  })
})
