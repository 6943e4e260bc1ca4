import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"

/** Names the PostgreSQL server of the suite. Without it, the suite uses the embedded database. */
export const server = Config.option(Config.Redacted("TEST_DATABASE_URL"))

/** Runs statements about whole databases. */
export const administer = Effect.fnUntraced(
  function* (server: Redacted.Redacted, statement: string) {
    const sql = yield* PgClient.make({ url: server, maxConnections: 1 })
    yield* sql.unsafe(statement)
  },
  Effect.scoped,
  Effect.provide(Reactivity.layer)
)

/** The URL of a database of a server. */
export const urlOf = (server: Redacted.Redacted, name: string) => {
  const url = new URL(Redacted.value(server))
  url.pathname = `/${name}`
  return Redacted.make(url.href)
}

/** A PostgreSQL database for one test, dropped at its end. */
export class TestPostgres extends Context.Service<TestPostgres, { readonly url: Redacted.Redacted }>()(
  "inlet/test/TestPostgres"
) {
  /** Empty, or a copy of a template. */
  static readonly layerOn = (server: Redacted.Redacted, template = "template1") =>
    Layer.effect(
      TestPostgres,
      Effect.gen(function* () {
        const random = yield* SecureRandom.SecureRandom
        const name = `inlet_test_${(yield* random.uuidV7()).replaceAll("-", "")}`
        yield* Effect.acquireRelease(administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`), () =>
          Effect.orDie(administer(server, `DROP DATABASE ${name} WITH (FORCE)`))
        )
        return { url: urlOf(server, name) }
      })
    ).pipe(Layer.provide(NodeCrypto.layer))
}
