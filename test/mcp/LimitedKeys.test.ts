import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { TestInlet } from "../TestInlet.ts"
import * as McpClient from "./McpClient.ts"

const secret = "SENTINEL-OF-ANOTHER"

/** An inbox with mail to agent-8, and a client whose key sees that of agent-7. */
const begin = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const { domain, key } = inbox
  const receive = Effect.fnUntraced(function* (localPart: string, code: string, subject = "Hello") {
    const to = `${localPart}@${domain}`
    yield* Mail.send(inlet.smtpPort, { to, subject, text: `Your verification code is ${code}.` })
    return (yield* Mailbox.events(inbox)).find(({ recipient }) => recipient === to)?.event_id as string
  })
  const other = yield* receive("agent-8", "111111", secret)
  const { json } = yield* inlet.call("POST", "/api/workspaces/keys", {
    key,
    body: { scope: "read", pattern: "agent-7" }
  })
  const client = yield* McpClient.one(inlet.url, json.api_key)
  return { ...inbox, client, other, receive }
})

layer(TestInlet.layer(), { excludeTestServices: true })("MCP with a key that is limited to a pattern", (it) => {
  it.effect("names an example address that the key sees", () =>
    Effect.gen(function* () {
      const { client, domain } = yield* begin
      const { json } = yield* client.call("get_inboxes")
      assert.strictEqual(json.inboxes[0].example, `agent-7+github@${domain}`)
      assert.strictEqual(json.only, "This key sees only mail for agent-7")
    })
  )

  it.effect("lists, traces and reads no mail of another address", () =>
    Effect.gen(function* () {
      const { client, domain, other, receive } = yield* begin
      yield* receive("agent-7", "222222", "mine")
      for (const args of [{}, { to: domain }, { subject: secret }, { has: "code" }, { trace: true }]) {
        const { isError, text } = yield* client.call("list_mail", args)
        assert.isFalse(isError, text)
        assert.notInclude(text, secret)
        assert.notInclude(text, "agent-8")
      }
      const { json } = yield* client.call("list_mail")
      assert.lengthOf(json.mails, 1)
      const named = yield* client.call("list_mail", { to: `agent-8@${domain}` })
      assert.deepStrictEqual(
        [named.isError, named.text],
        [true, "to: Expected an address that agent-7 takes, as this key does"]
      )
      const missing = yield* client.call("read_mail", { event_id: `${other.slice(0, -4)}0000` })
      for (const part of ["reply", "visible", "links"]) {
        const read = yield* client.call("read_mail", { event_id: other, part })
        assert.deepStrictEqual([read.isError, read.text], [true, missing.text])
      }
      const resource = yield* Effect.exit(client.read(`inlet://mail/${other}`))
      assert.notInclude(JSON.stringify(resource), secret)
      assert.strictEqual(resource._tag, "Failure")
    })
  )

  it.effect("waits for its own code and mail alone", () =>
    Effect.gen(function* () {
      const { client, domain, other, receive } = yield* begin
      const none = yield* client.call("wait_for_code", { seconds: 0 })
      assert.isTrue(none.json.timed_out)
      const waiting = yield* Effect.forkChild(client.call("wait_for_code", { seconds: 50 }))
      yield* OpenWaits.are(1)
      yield* receive("agent-8", "333333", secret)
      yield* receive("agent-7+x", "222222")
      assert.strictEqual((yield* Fiber.join(waiting)).json.code, "222222")
      const mails = yield* client.call("wait_for_mail", { seconds: 0 })
      assert.lengthOf(mails.json.mails, 1)
      for (const tool of ["wait_for_code", "wait_for_mail"]) {
        const named = yield* client.call(tool, { to: `agent-8@${domain}`, seconds: 0 })
        assert.isTrue(named.isError)
        const after = yield* client.call(tool, { after: other, seconds: 0 })
        assert.isTrue(after.isError)
        assert.match(after.text, /^after: Expected a cursor_now/)
      }
    })
  )

  it.effect("simulates no mail", () =>
    Effect.gen(function* () {
      const { client } = yield* begin
      const { isError, text } = yield* client.call("simulate_mail", { sample: "code" })
      assert.isTrue(isError)
      assert.match(text, /^This key sees only mail for agent-7: simulate_mail/)
    })
  )
})
