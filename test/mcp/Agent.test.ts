import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Agent from "../../examples/agent.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const connect = Effect.fnUntraced(function* (key: string) {
  const inlet = yield* TestInlet
  return yield* Effect.acquireRelease(
    Effect.promise(() => Agent.connect(inlet.url, key)),
    ({ close }) => Effect.promise(close)
  )
})

/** All text that a model has written and read. */
const tokensOf = ({ read }: Agent.Agent) =>
  read.reduce((sum, { answer, call, tool }) => sum + countTokens(tool) + countTokens(call) + countTokens(answer), 0)

/** A site that sends this mail on sign-up. */
const site = Effect.fnUntraced(function* (mail: { readonly text: string; readonly html?: string }) {
  const { smtpPort } = yield* TestInlet
  return (to: string) =>
    Effect.runPromise(
      Effect.asVoid(
        Mail.send(smtpPort, { from: "Acme <no-reply@acme.example>", to, subject: "Confirm your address", ...mail })
      )
    )
})

const link = "https://app.acme.example/verify?token=Zm9vYmFyYmF6cXV4MTIzNA"

layer(TestInlet.layer({ MAX_EMAILS_PER_DAY: "0" }), { excludeTestServices: true })("An agent with MCP", (it) => {
  it.effect("signs up with a code in two calls and 300 tokens", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const agent = yield* connect((yield* inlet.inbox()).key)
      const signUp = yield* site({ text: "Welcome to Acme!\n\nYour verification code is\n\n739 204\n" })
      const code = yield* Effect.promise(() => Agent.signUpWithCode(agent, "acme", signUp))
      assert.strictEqual(code, "739204")
      assert.strictEqual(agent.read.length, 2)
      assert.isAtMost(tokensOf(agent), 300)
    })
  )

  it.effect("signs up with a link in two calls and 400 tokens", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const agent = yield* connect((yield* inlet.inbox()).key)
      const signUp = yield* site({
        text: "",
        html: `<p>Welcome to Acme!</p><p><a href="${link}">Verify email address</a></p><p><a href="https://acme.example/help">Help</a></p>`
      })
      const url = yield* Effect.promise(() => Agent.signUpWithLink(agent, "acme", signUp))
      assert.strictEqual(url, link)
      assert.strictEqual(agent.read.length, 2)
      assert.isAtMost(tokensOf(agent), 400)
    })
  )

  it.effect("sorts 30 mails in eight calls and 5,500 tokens by reading only replies", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      const agent = yield* connect(key)
      const newsletter = {
        "List-Id": "Acme News <news.acme.example>",
        "List-Unsubscribe": "<https://acme.example/u>"
      }
      for (const number of Array.from({ length: 30 }, (_, index) => index)) {
        yield* Mail.send(inlet.smtpPort, {
          to: address,
          subject: `Mail ${number}`,
          ...(number % 6 === 0
            ? { text: number === 0 ? "Thank you for everything." : "Would Friday suit you?\n\n> an earlier mail" }
            : number % 6 === 1
              ? { text: `Your verification code is ${100_003 + number * 7}.` }
              : { text: `What is new at Acme, part ${number}. `.repeat(40), headers: newsletter })
        })
      }
      yield* Mailbox.events({ key, domainId })
      const sorted = yield* Effect.promise(() => Agent.triage(agent))
      assert.deepStrictEqual([sorted.answer.length, sorted.code.length, sorted.later.length], [4, 5, 21])
      assert.isAtMost(agent.read.length, 8)
      assert.isAtMost(tokensOf(agent), 5_500)
    })
  )

  it.effect("reads a newsletter of 900 KB completely, at most 2,500 tokens a call", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      const agent = yield* connect(key)
      const row = (index: number) =>
        `<tr style="${"padding:0 12px 4px;font-family:Helvetica,Arial,sans-serif;color:#1a1a1a;".repeat(13)}"><td><p>Story ${index} of the day, in a few words.</p></td></tr>`
      const html = `<table>${Array.from({ length: 900 }, (_, index) => row(index)).join("\r\n")}</table>`
      assert.isAbove(html.length, 900_000)
      yield* Mail.send(inlet.smtpPort, { to: address, html, text: "", textEncoding: "quoted-printable" })
      const [event] = yield* Mailbox.events({ key, domainId })
      const text = yield* Effect.promise(() => Agent.readWhole(agent, event.event_id))
      const stories = [...text.matchAll(/Story (\d+) of the day/g)].map(([, number]) => Number(number))
      assert.deepStrictEqual(
        stories,
        Array.from({ length: 900 }, (_, index) => index)
      )
      for (const { answer } of agent.read) assert.isAtMost(countTokens(answer), 2_500)
      assert.isAtMost(agent.read.length, 10)
    })
  )
})
