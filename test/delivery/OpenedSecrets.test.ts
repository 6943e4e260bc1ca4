import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { OpenedSecrets } from "../../src/delivery/OpenedSecrets.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import { SecretsKey } from "../../src/workspaces/SecretsKey.ts"
import { eventually } from "../Eventually.ts"
import { heldBytes } from "../HeldBytes.ts"
import * as TestDatabase from "../TestDatabase.ts"

const config = ConfigProvider.layer(
  ConfigProvider.fromUnknown({ SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"), DATA_DIR: "unused" })
)

const mebibyte = 1_024 * 1_024

/** The bytes as the driver gives them: a view of all that it read with them. */
const inLargeRead = (bytes: Uint8Array) => {
  const read = new Uint8Array(mebibyte)
  read.set(bytes, 100)
  return read.subarray(100, 100 + bytes.byteLength)
}

layer(
  Layer.merge(OpenedSecrets.layer, SecretsKey.layer).pipe(
    Layer.provide(config),
    Layer.fresh,
    Layer.provideMerge(TestDatabase.layer)
  ),
  { excludeTestServices: true }
)("Opened secrets", (it) => {
  it.effect("retain nothing that the database sent beside them", () =>
    Effect.gen(function* () {
      const key = yield* SecretsKey
      const opened = yield* OpenedSecrets
      yield* heldBytes
      const before = process.memoryUsage().arrayBuffers
      for (let number = 100; number < 164; number++) {
        const workspaceId = WorkspaceId.make(`01890a5d-ac96-774b-bcce-b302099a8${number}`)
        const sealed = yield* key.seal(Redacted.make(`whsec_${number}`), workspaceId)
        const secrets = { workspaceId, signingSecret: inLargeRead(sealed), previousSigningSecret: inLargeRead(sealed) }
        const { current, previous } = yield* opened.open(secrets)
        assert.strictEqual(Redacted.value(current), `whsec_${number}`)
        assert.strictEqual(previous && Redacted.value(previous), `whsec_${number}`)
        assert.isDefined(opened.known({ ...secrets, signingSecret: sealed, previousSigningSecret: sealed }))
      }
      // V8 frees buffers in a thread of its own.
      const held = Effect.map(heldBytes, () => process.memoryUsage().arrayBuffers - before)
      yield* eventually(held, (bytes) => bytes < 32 * mebibyte)
    })
  )
})
