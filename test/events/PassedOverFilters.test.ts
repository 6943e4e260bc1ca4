import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mailbox from "../Mailbox.ts"
import * as McpClient from "../mcp/McpClient.ts"
import { TestInlet } from "../TestInlet.ts"

const code = "Your verification code is 739204."
const github = { from: "noreply@github.com" }
const confirmed = { ...github, authentication: { dmarc: "pass" } }

/** An inbox that gets simulated mail, and what waits there say about it. */
const begin = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const client = yield* McpClient.two(inlet.url, inbox.key, { pin: "2026-07-28" })
  const path = `/api/domains/${inbox.domainId}`
  return {
    receive: Effect.fnUntraced(function* (mail: object) {
      const { status, text } = yield* inlet.call("POST", `${path}/simulate`, { key: inbox.key, body: mail })
      assert.strictEqual(status, 202, text)
      yield* Mailbox.events(inbox)
    }),
    allow: (value: string) =>
      inlet.call("POST", `${path}/sender-rules`, { key: inbox.key, body: { list: "allow", value } }),
    /** Of an agent. */
    told: (tool: string, args: McpClient.Arguments) =>
      Effect.map(client.call(tool, { ...args, seconds: 0 }), ({ json }) => [json.held, json.came]),
    /** Of a request. */
    hint: (query: string) =>
      Effect.map(
        inlet.call("GET", `${path}/events?wait=1&newerThan=5m&${query}`, { key: inbox.key }),
        ({ json }) => json.hint
      )
  }
})

const ofGithub = { from_domain: "github.com" }
const nothing = [undefined, undefined]
const isHeld = [
  "Mail came, but a sender rule, the scanner or the loop guard holds it. list_mail with held: true shows it",
  undefined
]
const unconfirmed = "Mail with a code came from a sender that is not confirmed as github.com"
const isUnconfirmed = [undefined, `${unconfirmed}. list_mail with held: true shows it`]

layer(TestInlet.layer(), { excludeTestServices: true })("A wait in vain with filters", (it) => {
  it.effect("says nothing of a newsletter without a code from another domain", () =>
    Effect.gen(function* () {
      const { hint, receive, told } = yield* begin
      yield* receive({ from: "news@acme.example", text: "Our news" })
      assert.deepStrictEqual(yield* told("wait_for_code", ofGithub), nothing)
      assert.isUndefined(yield* hint("has=code&fromDomain=github.com"))
      yield* receive({ ...confirmed, text: "Welcome" })
      assert.deepStrictEqual(yield* told("wait_for_code", ofGithub), [
        undefined,
        "Mail came without a code. list_mail shows it"
      ])
      assert.strictEqual(
        yield* hint("has=code&fromDomain=github.com"),
        "Mail came without a code. The same request without has lists it"
      )
    })
  )

  it.effect("says that the author of a mail with a code is not confirmed", () =>
    Effect.gen(function* () {
      const { hint, receive, told } = yield* begin
      yield* receive({ ...github, text: code })
      assert.deepStrictEqual(yield* told("wait_for_code", ofGithub), isUnconfirmed)
      assert.strictEqual(
        yield* hint("has=code&fromDomain=github.com"),
        `${unconfirmed}. The same request without fromDomain, trust and wait lists it`
      )
      assert.match(
        yield* hint("fromDomain=github.com"),
        /^Mail came from a sender that is not confirmed as github\.com/
      )
      assert.deepStrictEqual(yield* told("wait_for_code", {}), nothing)
    })
  )

  it.effect("says so also if a rule holds that mail for the same reason, and else that a rule holds it", () =>
    Effect.gen(function* () {
      const { allow, receive, told } = yield* begin
      yield* allow("github.com")
      yield* receive({ ...github, text: code })
      assert.deepStrictEqual(yield* told("wait_for_code", ofGithub), isUnconfirmed)
      assert.deepStrictEqual(yield* told("wait_for_code", {}), isHeld)
    })
  )

  it.effect("says nothing of held mail that the filters exclude", () =>
    Effect.gen(function* () {
      const { allow, hint, receive, told } = yield* begin
      yield* allow("github.com")
      yield* receive({ from: "news@acme.example", subject: "Our news", text: "Hello" })
      assert.deepStrictEqual(yield* told("wait_for_mail", { subject: "invoice" }), nothing)
      assert.deepStrictEqual(yield* told("wait_for_code", {}), nothing)
      assert.deepStrictEqual(yield* told("wait_for_mail", { subject: "news" }), isHeld)
      assert.isUndefined(yield* hint("fromPart=github"))
      assert.match(yield* hint("fromPart=acme"), /^Mail came that a sender rule, /)
    })
  )
})
