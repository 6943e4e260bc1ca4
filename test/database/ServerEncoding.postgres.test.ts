import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Database from "../../src/database/Database.ts"
import * as TestPostgres from "../TestPostgres.ts"

it.live("A database of another encoding than UTF-8 is refused, and told how to go on", () =>
  Effect.gen(function* () {
    const server = Option.getOrThrow(yield* TestPostgres.server)
    const random = yield* SecureRandom.SecureRandom
    const name = `inlet_test_${(yield* random.uuidV7()).replaceAll("-", "")}`
    const create = `CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`
    yield* Effect.acquireRelease(TestPostgres.administer(server, create), () =>
      Effect.orDie(TestPostgres.administer(server, `DROP DATABASE ${name} WITH (FORCE)`))
    )
    const refusal = Effect.provide(Database.refuseOthers, Database.layerPostgres(TestPostgres.urlOf(server, name)))
    const error = yield* Effect.flip(refusal)
    assert.match(error.message, /encoding LATIN1, which cannot store all mail\. Name a database with UTF8, /)
  }).pipe(Effect.scoped, Effect.provide([NodeCrypto.layer, NodeServices.layer]))
)
