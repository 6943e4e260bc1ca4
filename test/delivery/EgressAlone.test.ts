import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Program from "../Program.ts"
import type { Seen } from "./EgressScenario.ts"

const scenario = fileURLToPath(new URL("./EgressScenario.ts", import.meta.url))

/** Gives the loopback device of a new network namespace a private address and no route out. */
const prepared = 'ip link set lo up && ip address add 10.77.0.1/24 dev lo && exec "$@"'

/** A network namespace with only `lo`, as root or in a user namespace. Without both, a loopback address. */
const surroundings = Effect.gen(function* () {
  for (const flags of [["-n"], ["-r", "-n"]]) {
    const command = ["unshare", ...flags, "sh", "-c", prepared, "sh"]
    const { code } = yield* Program.run("unshare", [...command.slice(1), "true"]).pipe(
      Effect.orElseSucceed(() => ({ code: 1 }))
    )
    if (code === 0) return { address: "10.77.0.1", command }
  }
  return { address: "127.77.0.1", command: [] }
})

layer(NodeServices.layer, { excludeTestServices: true })("A service limited to public addresses", (it) => {
  it.effect("does not connect to a name that now points to a private address, and delivers once it is allowed", () =>
    Effect.gen(function* () {
      const { address, command } = yield* surroundings
      const [program = "", ...args] = [...command, process.execPath, scenario]
      const { code, stderr, stdout } = yield* Program.run(program, args, {
        env: { PRIVATE_ADDRESS: address, TEST_DATABASE_URL: undefined, TEST_BUNDLE: undefined }
      })
      assert.strictEqual(code, 0, `${stdout}${stderr}`)
      // The program prints this type.
      const seen = (yield* Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))(stdout)) as Seen
      const advice = "Expected a host with public addresses alone; the operator can allow others (WEBHOOK_ALLOW)"
      assert.deepStrictEqual(seen, {
        literal: { status: 400, error: `webhookUrl: ${address} is not a public address. ${advice}` },
        name: {
          status: 400,
          error: `webhookUrl: what hooks.example.com resolves to is not a public address. ${advice}`
        },
        refused: { statusCode: null, error: "what hooks.example.com resolves to is not a public address" },
        heardWhenRefused: 0,
        delivered: { statusCode: 200, error: null },
        heardWhenAllowed: 1,
        throughProxy: 0,
        attempts: ["2 other", "1 guarded"]
      })
    })
  )
})
