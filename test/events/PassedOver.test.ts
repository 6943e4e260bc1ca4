import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as McpClient from "../mcp/McpClient.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { TestInlet } from "../TestInlet.ts"

const code = { text: "Your verification code is 111111." }

/** An inbox of a service that has parsed a mail: the thread for the first one may start longer than a wait lasts. */
const begin = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const other = yield* inlet.inbox()
  yield* Mail.send(inlet.smtpPort, { to: other.address })
  yield* Mailbox.events(other)
  return yield* inlet.inbox()
})

/** What waits of these queries say while a mail comes. */
const waited = Effect.fnUntraced(function* (
  { address, domainId, key }: Mailbox.Inbox & { readonly address: string },
  queries: ReadonlyArray<string>,
  mail: { readonly text?: string; readonly to?: string } = {}
) {
  const inlet = yield* TestInlet
  const waits = yield* Effect.forEach(
    queries,
    (query) => inlet.call("GET", `/api/domains/${domainId}/events?wait=4&recipient=${address}&${query}`, { key }),
    { concurrency: "unbounded" }
  ).pipe(Effect.forkChild)
  yield* OpenWaits.are(queries.length)
  yield* Mail.send(inlet.smtpPort, { to: address, ...mail })
  return (yield* Fiber.join(waits)).map(({ json }) => json)
})

layer(TestInlet.layer(), { excludeTestServices: true })("A wait in vain", (it) => {
  it.effect("says that mail came which a sender rule holds", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* begin
      const rules = `/api/domains/${inbox.domainId}/sender-rules`
      yield* inlet.call("POST", rules, { key: inbox.key, body: { list: "allow", value: "else.example" } })
      for (const { events, hint } of yield* waited(inbox, ["has=code", "after=latest", "after=start"], code)) {
        assert.deepStrictEqual(events, [])
        assert.match(hint, /^Mail came that a sender rule, .* trust=held and without wait lists it$/)
      }
      const [another] = yield* waited({ ...inbox, address: `other@${inbox.domain}` }, [""], { to: inbox.address })
      assert.notProperty(another, "hint")
      const client = yield* McpClient.one(inlet.url, inbox.key)
      const { json } = yield* client.call("wait_for_code", { to: inbox.address, seconds: 0 })
      assert.strictEqual(
        json.held,
        "Mail came, but a sender rule, the scanner or the loop guard holds it. list_mail with held: true shows it"
      )
      const { json: mail } = yield* client.call("wait_for_mail", { to: inbox.address, seconds: 0 })
      assert.deepStrictEqual([mail.mails, mail.held], [[], json.held])
    })
  )

  it.effect("says that mail came without what it asks for, but not if that came before", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* begin
      const [found] = yield* waited(inbox, ["has=link"], code)
      assert.strictEqual(
        found.hint,
        "Mail came without a link that has a key of its own. The same request without has lists it"
      )
      const client = yield* McpClient.one(inlet.url, inbox.key)
      const call = () => client.call("wait_for_code", { to: inbox.address, seconds: 0 })
      const first = yield* call()
      assert.deepStrictEqual([first.json.code, first.json.to], ["111111", inbox.address])
      const second = yield* call()
      assert.deepStrictEqual([second.json.timed_out, second.json.came], [true, undefined])
      const other = `other@${inbox.domain}`
      yield* Mail.send(inlet.smtpPort, { to: other, text: "Hello" })
      yield* Mailbox.events(inbox)
      const { json } = yield* client.call("wait_for_code", { to: other, seconds: 1 })
      assert.strictEqual(json.came, "Mail came without a code. list_mail shows it")
    })
  )
})
