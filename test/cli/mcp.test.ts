import { NodeServices } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import * as ScriptedService from "../client/ScriptedService.ts"
import * as Mail from "../Mail.ts"
import * as McpClient from "../mcp/McpClient.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"

const ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}\n'

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })("inlet mcp", (it) => {
  describe.each([["with sessions", "legacy"] as const, ["by 2026-07-28", { pin: "2026-07-28" }] as const])(
    "%s",
    (_, era) => {
      it.effect("serves MCP over stdio", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const { address, key } = yield* inlet.inbox()
          const client = yield* McpClient.program({ INLET_URL: inlet.url, INLET_API_KEY: key }, era)
          const direct = yield* McpClient.two(inlet.url, key, era)
          assert.deepStrictEqual(yield* client.tools, yield* direct.tools)
          // Other requests are answered during a wait.
          const wait = yield* Effect.forkChild(client.call("wait_for_code", { to: address }))
          assert.lengthOf((yield* client.call("get_inboxes")).json.inboxes, 1)
          yield* Mail.send(inlet.smtpPort, { to: address, text: "Your verification code is 739204." })
          const { json } = yield* Fiber.join(wait)
          assert.strictEqual(json.code, "739204")
          // The process is a session in both protocols.
          assert.isTrue((yield* client.call("wait_for_code", { to: address, seconds: 0 })).json.timed_out)
          const { contents } = yield* client.read(`inlet://mail/${json.event_id}`)
          assert.include(JSON.stringify(contents), "739204")
          const { messages } = yield* client.prompt("verify_account", { site: "straße.example" })
          assert.include(JSON.stringify(messages), "straße.example")
        })
      )
    }
  )

  it.effect("answers a message that it cannot forward with an error and the next step", () =>
    Effect.gen(function* () {
      const { url } = yield* TestInlet
      const says = Effect.fnUntraced(function* (env: Record<string, string>, line: string) {
        const program = yield* Program.inlet(["mcp"], env)
        yield* program.type(line)
        return JSON.parse(yield* program.says("}\n"))
      }, Effect.scoped)
      const wrong = yield* says({ INLET_URL: url, INLET_API_KEY: "ak_live_no" }, ping)
      assert.strictEqual(wrong.id, 7)
      assert.match(wrong.error.message, /^This is not a complete API key/)
      const nobody = yield* says({ INLET_URL: "http://127.0.0.1:9", INLET_API_KEY: "ak_live_no" }, ping)
      assert.match(nobody.error.message, /^http:\/\/127\.0\.0\.1:9 did not answer .* Is the service running there\?$/)
      const restarting = yield* ScriptedService.serve(
        { status: 502, body: "<html>\n<h1>Bad gateway</h1>\n</html>" },
        { status: 504, body: "" }
      )
      for (const status of [502, 504]) {
        const { error, id } = yield* says({ INLET_URL: restarting.url, INLET_API_KEY: "ak_live_no" }, ping)
        assert.strictEqual(id, 7)
        assert.match(error.message, new RegExp(` answered ${status} without a message of MCP\\. Is that Inlet's URL`))
      }
      const rubbish = yield* says({ INLET_URL: url, INLET_API_KEY: "ak_live_no" }, "rubbish\n")
      assert.strictEqual(rubbish.error.code, -32_700)
    })
  )
})
