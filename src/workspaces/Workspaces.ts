import { createHash } from "node:crypto"
import { Context, Effect, Layer, PubSub, Redacted, Schedule, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Unauthorized } from "../model/ApiError.ts"
import { WorkspaceId, type WorkspaceName } from "../model/Workspace.ts"
import { SecretsKey } from "./SecretsKey.ts"

/** How long deliveries are also signed with the previous secret. */
const previousSecretHours = 24

/** How often the key of a request that is held open is looked at again: another process may have replaced it. */
const recheckEvery = "3 seconds"

const ApiKey = Schema.String.check(Schema.isPattern(/^ak_live_[\w-]{43}$/))

/** The tenants: each has one API key and one signing secret, shown once. */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    create(name: WorkspaceName): Effect.Effect<{
      readonly id: WorkspaceId
      readonly apiKey: Redacted.Redacted
      readonly signingSecret: Redacted.Redacted
    }>
    /** The workspace of an API key. */
    authenticate(apiKey: Redacted.Redacted): Effect.Effect<WorkspaceId, Unauthorized>
    /** Never succeeds, and fails once the key is replaced: at once when that is done here, elsewhere within seconds. */
    untilReplaced(id: WorkspaceId, apiKey: Redacted.Redacted): Effect.Effect<never, Unauthorized>
    /** The old key stops working. */
    rotateKey(id: WorkspaceId): Effect.Effect<Redacted.Redacted>
    /** The old secret signs beside the new one for 24 hours. */
    rotateSecret(id: WorkspaceId): Effect.Effect<Redacted.Redacted>
  }
>()("inlet/workspaces/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const secrets = yield* SecretsKey
      const replaced = yield* PubSub.sliding<WorkspaceId>(1_024)

      const makeApiKey = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(`ak_live_${Buffer.from(bytes).toString("base64url")}`)
      )
      const makeSecret = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(`whsec_${Buffer.from(bytes).toString("base64")}`)
      )

      const create = Effect.fn("Workspaces.create")(function* (name: WorkspaceName) {
        const id = WorkspaceId.make(yield* random.uuidV7())
        const apiKey = yield* makeApiKey
        const signingSecret = yield* makeSecret
        const sealed = yield* secrets.seal(signingSecret, id)
        yield* sql`
          INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
          VALUES (${id}, ${name}, ${hashOf(apiKey)}, ${sealed})
        `
        return { id, apiKey, signingSecret }
      }, Effect.orDie)

      const authenticate = Effect.fn("Workspaces.authenticate")(function* (apiKey: Redacted.Redacted) {
        const rows = Schema.is(ApiKey)(Redacted.value(apiKey))
          ? yield* Effect.orDie(
              sql<{ readonly id: WorkspaceId }>`SELECT id FROM workspaces WHERE api_key_hash = ${hashOf(apiKey)}`
            )
          : []
        return rows[0]?.id ?? (yield* new Unauthorized({ message: refusalOf(Redacted.value(apiKey)) }))
      })

      const untilReplaced = Effect.fnUntraced(function* (id: WorkspaceId, apiKey: Redacted.Redacted) {
        const occasions = Stream.merge(
          Stream.filter(Stream.fromPubSub(replaced), (other) => other === id),
          Stream.fromSchedule(Schedule.spaced(recheckEvery))
        )
        // A database that does not answer says nothing about the key.
        const recheck = Effect.catchDefect(authenticate(apiKey), () => Effect.void)
        yield* Stream.runForEach(occasions, () => recheck)
        return yield* Effect.never
      })

      const rotateKey = Effect.fn("Workspaces.rotateKey")(function* (id: WorkspaceId) {
        const apiKey = yield* makeApiKey
        yield* sql`UPDATE workspaces SET api_key_hash = ${hashOf(apiKey)} WHERE id = ${id}`
        yield* PubSub.publish(replaced, id)
        return apiKey
      }, Effect.orDie)

      const rotateSecret = Effect.fn("Workspaces.rotateSecret")(function* (id: WorkspaceId) {
        const secret = yield* makeSecret
        const sealed = yield* secrets.seal(secret, id)
        yield* sql`
          UPDATE workspaces
          SET previous_signing_secret = signing_secret,
              previous_secret_until = now() + make_interval(hours => ${previousSecretHours}),
              signing_secret = ${sealed}
          WHERE id = ${id}
        `
        return secret
      }, Effect.orDie)

      return Workspaces.of({ create, authenticate, untilReplaced, rotateKey, rotateSecret })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}

/** What a person does next about a key that opens nothing. */
const refusalOf = (given: string): string => {
  if (given === "") {
    return "The API key is missing: send that of a workspace as `Authorization: Bearer ak_live_…`; POST /api/workspaces makes one"
  }
  if (given.startsWith("whsec_")) {
    return "This is a webhook signing secret: send the API key of the workspace as `Authorization: Bearer ak_live_…`"
  }
  return Schema.is(ApiKey)(given)
    ? "This API key opens no workspace here: it was replaced, or is another service's. Send the one that is valid as `Authorization: Bearer ak_live_…`"
    : "This is no API key, or not all of it: send one as `Authorization: Bearer ak_live_…`, with 43 characters behind ak_live_"
}

// Keys are 256 random bits, so a plain hash can't be guessed back.
const hashOf = (apiKey: Redacted.Redacted) => createHash("sha256").update(Redacted.value(apiKey)).digest()
