import { NodeCrypto } from "@effect/platform-node"
import { assert, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Logger, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Checks from "../../src/cli/commands/Checks.ts"
import * as Database from "../../src/database/Database.ts"
import * as Rights from "../../src/database/Rights.ts"
import * as Readiness from "../../src/health/Readiness.ts"
import * as Platform from "../../src/process/Platform.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { administer } from "../TestPostgres.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A migrated database whose tables belong to another role than that of its URL. */
class Restored extends Context.Service<
  Restored,
  { readonly url: string; readonly role: string; readonly tell: (statement: string) => Effect.Effect<void> }
>()("inlet/test/database/Restored") {
  static readonly layer = Layer.effect(
    Restored,
    Effect.gen(function* () {
      const { DATABASE_URL = "" } = yield* TestDatabase.migratedFor("/nowhere")
      const random = yield* SecureRandom.SecureRandom
      const role = `inlet_test_${(yield* random.uuidV7()).replaceAll("-", "")}`
      const tell = (statement: string) => Effect.orDie(administer(Redacted.make(DATABASE_URL), statement))
      yield* Effect.acquireRelease(tell(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`), () =>
        Effect.andThen(tell(`DROP OWNED BY ${role}`), tell(`DROP ROLE ${role}`))
      )
      const url = new URL(DATABASE_URL)
      url.username = role
      url.password = role
      return { url: url.href, role, tell }
    })
  ).pipe(Layer.provide(NodeCrypto.layer))
}

/** What a starting process says at `/ready`. */
const ready = Effect.gen(function* () {
  const { url } = yield* Restored
  return yield* Readiness.make("process").pipe(
    Effect.flatMap((ready) => Effect.match(ready, { onFailure: ({ message }) => message, onSuccess: () => "ready" })),
    Effect.provide([
      Database.layerPostgres(Redacted.make(url)),
      Layer.mock(RawStore, { writable: Effect.void, segments: Segments.none }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ROLES: "http,worker" } })),
      Logger.layer([])
    ])
  )
})

const doctor = Effect.gen(function* () {
  const { url } = yield* Restored
  const { says, verdict } = yield* Checks.database.pipe(
    Effect.provide(Platform.layer),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { DATABASE_URL: url, SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") } })
    )
  )
  return `${verdict} ${says}`
})

it.live("A role with exactly the rights that /ready looks for takes a mail and delivers it", () =>
  Effect.gen(function* () {
    const { role, tell, url } = yield* Restored
    const installation = { DATA_DIR: yield* InletProcess.folder, SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") }
    const receiver = yield* WebhookReceiver.make
    const asOwner = new URL(url)
    asOwner.username = "postgres"
    const owner = yield* InletProcess.start({ ...installation, DATABASE_URL: asOwner.href, ROLES: "http" })
    const { address, domainId, key } = yield* owner.inbox(receiver.url)

    for (const [table, rights] of Object.entries(Rights.needed)) yield* tell(`GRANT ${rights} ON ${table} TO ${role}`)
    // A start looks at these two.
    yield* tell(`GRANT ALL ON migrations, secrets_key_check TO ${role}`)
    const inlet = yield* InletProcess.start({ ...installation, DATABASE_URL: url })
    assert.strictEqual((yield* inlet.call("GET", "/ready")).status, 200)
    yield* Mail.send(inlet.smtpPort, { to: address, subject: "with few rights" })
    yield* eventually(receiver.all, ([request]) => request?.event.subject === "with few rights")
    yield* eventually(
      owner.call("GET", `/api/domains/${domainId}/events?delivery=delivered`, { key }),
      ({ json }) => json.events.length === 1
    )
    assert.include(yield* inlet.output, "permission denied for table orders")
  }).pipe(Effect.provide(Restored.layer))
)

layer(Restored.layer, { excludeTestServices: true })("A role without rights on mail", (it) => {
  it.effect("makes /ready fail and inlet doctor name each missing right, until it has them", () =>
    Effect.gen(function* () {
      const { role, tell } = yield* Restored
      assert.match(
        yield* ready,
        /^DATABASE_URL: The role lacks SELECT on workspaces; SELECT, UPDATE on domains; .*; and rights on 10 other tables\./
      )

      yield* tell(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
      assert.strictEqual(yield* ready, "ready")
      assert.match(yield* doctor, /^good /)

      yield* tell(`REVOKE ALL ON inbound_emails FROM ${role}`)
      yield* tell(`REVOKE UPDATE ON deliveries FROM ${role}`)
      const lacks = (what: string) =>
        `DATABASE_URL: The role lacks ${what}. GRANT them, or make the role the owner of the tables`
      assert.strictEqual(yield* ready, lacks("SELECT, INSERT, UPDATE on inbound_emails and UPDATE on deliveries"))
      assert.strictEqual(
        yield* doctor,
        `wrong ${lacks("UPDATE on deliveries and SELECT, INSERT, UPDATE, DELETE on inbound_emails")}`
      )
    })
  )

  it.effect("makes inlet doctor name what other work lacks, while /ready is good", () =>
    Effect.gen(function* () {
      const { role, tell } = yield* Restored
      yield* tell(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
      yield* tell(`REVOKE DELETE ON events, orders, refusals, replays, domains, domain_days FROM ${role}`)
      assert.strictEqual(yield* ready, "ready")
      assert.strictEqual(
        yield* doctor,
        "wrong DATABASE_URL: The role lacks DELETE on domain_days; DELETE on domains; DELETE on events; DELETE on orders; DELETE on refusals; and rights on another table. GRANT them, or make the role the owner of the tables"
      )
    })
  )
})
