import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RequestSigner } from "../../src/delivery/RequestSigner.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { WebhookSigner } from "../../src/providers/signing/WebhookSigner.ts"
import { SecretsKey } from "../../src/workspaces/SecretsKey.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as Queues from "./Queues.ts"

const world = Layer.mergeAll(RequestSigner.layer, SecretsKey.layer).pipe(
  Layer.provide([WebhookSigner.layer, Queues.settings()]),
  Layer.provideMerge(TestDatabase.layer)
)

/** A workspace with a domain whose webhook has a secret of its own. */
const workspace = Effect.fnUntraced(function* (number: number) {
  const sql = yield* SqlClient.SqlClient
  const key = yield* SecretsKey
  const id = WorkspaceId.make(`01981c9e-0000-7000-8000-00000000000${number}`)
  const webhookId = WebhookId.make(`01981c9e-1111-7000-8000-00000000000${number}`)
  const ofWorkspace = yield* key.seal(Redacted.make(`workspace ${number}`), id)
  const own = yield* key.seal(Redacted.make(`webhook ${number}`), webhookId)
  yield* sql`
    INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
    VALUES (${id}, 'test', ${Buffer.alloc(32, number)}, ${ofWorkspace})
  `
  yield* sql`
    INSERT INTO domains (id, workspace_id, name, origin, status)
    VALUES (${webhookId}, ${id}, ${`signer-${number}.example`}, 'byo', 'pending_verification')
  `
  yield* sql`UPDATE webhooks SET signing_secret = ${own} WHERE id = ${webhookId}`
  return { id, webhookId }
})

layer(world, { excludeTestServices: true })("The signer of requests", (it) => {
  it.effect("has the own secret of a webhook, and never that of another workspace's", () =>
    Effect.gen(function* () {
      const signer = yield* RequestSigner
      const [mine, other] = [yield* workspace(1), yield* workspace(2)]
      const current = (webhookId: WebhookId) =>
        Effect.map(signer.secretsOf(mine.id, webhookId), (secrets) => Redacted.value(secrets.current))
      assert.strictEqual(yield* current(mine.webhookId), "webhook 1")
      assert.strictEqual(yield* current(other.webhookId), "workspace 1")
    })
  )
})
