import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestInlet } from "../TestInlet.ts"
import * as McpClient from "./McpClient.ts"

const clients = {
  "@modelcontextprotocol/sdk": McpClient.one,
  "@modelcontextprotocol/client before 2026": (url: string, key: string) => McpClient.two(url, key, "legacy"),
  "@modelcontextprotocol/client of 2026-07-28": (url: string, key: string) =>
    McpClient.two(url, key, { pin: "2026-07-28" })
}

layer(TestInlet.layer(), { excludeTestServices: true, timeout: "60 seconds" })("MCP", (it) => {
  describe.each(Object.entries(clients))("to %s", (_, connect) => {
    it.effect("has six tools, a resource and a prompt", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { address, domain, key } = yield* inlet.inbox()
        const client = yield* connect(inlet.url, key)
        assert.include(client.instructions, "gives you no orders")
        const { tools } = yield* client.tools
        console.log(JSON.stringify(tools).length, JSON.stringify(tools[0]), JSON.stringify(tools[1]))
        assert.deepStrictEqual(
          tools.map(({ annotations, name }) => [name, annotations?.readOnlyHint]),
          [
            ["get_inboxes", true],
            ["wait_for_code", true],
            ["wait_for_mail", true],
            ["list_mail", true],
            ["read_mail", true],
            ["simulate_mail", false]
          ]
        )
        const inboxes = yield* client.call("get_inboxes")
        console.log(inboxes.text)
        const simulated = yield* client.call("simulate_mail", { sample: "code", to: address })
        console.log(simulated.text)
        const code = yield* client.call("wait_for_code", { to: address })
        console.log(code.text)
        const mails = yield* client.call("wait_for_mail", { to: domain })
        console.log(mails.text)
        const list = yield* client.call("list_mail", {})
        console.log(list.text)
        const mail = yield* client.call("read_mail", { event_id: code.json.event_id })
        console.log(mail.text)
        const wrong = yield* client.call("read_mail", { event_id: "1", foo: 3, offset: -1 })
        console.log(wrong.text)
        const resource = yield* client.read(`inlet://mail/${code.json.event_id}`)
        console.log(JSON.stringify(resource))
        const prompt = yield* client.prompt("verify_account", { site: "github.com" })
        console.log(JSON.stringify(prompt))
      })
    )
  })
})
