import { PgClient } from "@effect/sql-pg"
import { Config, Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"
import * as Database from "../src/database/Database.ts"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import { WirePglite } from "../src/database/WirePglite.ts"
import * as Platform from "../src/Platform.ts"

/** Names the PostgreSQL server that the suite runs on; the embedded database when it is unset. */
const server = Config.option(Config.Redacted("TEST_DATABASE_URL"))

/** A PostgreSQL database of this test's own, dropped at its end. */
export class TestPostgres extends Context.Service<TestPostgres, { readonly url: Redacted.Redacted }>()(
  "inlet/test/TestPostgres"
) {
  static readonly layerOn = (server: Redacted.Redacted) =>
    Layer.effect(
      TestPostgres,
      Effect.gen(function* () {
        const random = yield* SecureRandom.SecureRandom
        const name = `inlet_test_${(yield* random.uuidV7()).replaceAll("-", "")}`
        const admin = yield* PgClient.make({ url: server, maxConnections: 1 })
        yield* Effect.acquireRelease(admin.unsafe(`CREATE DATABASE ${name}`), () =>
          Effect.orDie(admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
        )
        const url = new URL(Redacted.value(server))
        url.pathname = `/${name}`
        return { url: Redacted.make(url.href) }
      })
    ).pipe(Layer.provide([Platform.layer, Reactivity.layer]))
}

const embedded = Layer.unwrap(
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.promise(() => WirePglite.open({})),
      (database) => Effect.promise(() => database.close())
    )
    return EmbeddedDatabase.layerOf(database)
  })
)

const postgres = (url: Redacted.Redacted) =>
  Layer.unwrap(Effect.map(TestPostgres, (own) => Database.layerPostgres(own.url))).pipe(
    Layer.provide(TestPostgres.layerOn(url))
  )

/** A migrated database of this test's own, embedded or on the server that `TEST_DATABASE_URL` names. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* server
    return Database.migrations.pipe(Layer.provideMerge(url._tag === "Some" ? postgres(url.value) : embedded))
  })
).pipe(Layer.provideMerge(Platform.layer))

/** What a process of its own needs to reach a database of this test's own. */
export const settings = Effect.gen(function* () {
  const url = yield* server
  if (url._tag === "None") return {}
  const own = yield* Effect.map(Layer.build(TestPostgres.layerOn(url.value)), Context.get(TestPostgres))
  return { DATABASE_URL: Redacted.value(own.url) }
})
