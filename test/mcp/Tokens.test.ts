import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import * as McpClient from "./McpClient.ts"

const english = "The invoice for your order of last Tuesday is attached; please pay it within fourteen days. "
const german =
  "Die Rechnung über Ihre Bestellung vom letzten Dienstag liegt bei; bitte zahlen Sie binnen vierzehn Tagen. "
const japanese = "先週火曜日のご注文の請求書を添付しました。十四日以内にお支払いください。"
const russian = "Счёт за ваш заказ от прошлого вторника приложен; пожалуйста, оплатите его в течение двух недель. "

layer(TestInlet.layer({ MAX_EMAILS_PER_DAY: "0" }), { excludeTestServices: true })("The token cost of MCP", (it) => {
  it.effect("is at most 1,500 for the tools and 200 for the instructions of a conversation", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.inbox()
      const client = yield* McpClient.one(inlet.url, key)
      const { tools } = yield* client.tools
      assert.isAtMost(countTokens(JSON.stringify(tools)), 1_500)
      assert.isAtMost(countTokens(client.instructions), 200)
    })
  )

  it.effect("is at most 150 for a code from any sender, or for a timeout", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, key } = yield* inlet.inbox()
      const client = yield* McpClient.one(inlet.url, key)
      const none = yield* client.call("wait_for_code", { seconds: 0 })
      assert.isAtMost(countTokens(none.text), 150)
      const long = `${"x7q".repeat(20)}@${"k9z.".repeat(45)}example.com`
      for (const from of ["no-reply@acme.example", long]) {
        yield* client.call("simulate_mail", { sample: "code", to: address, from })
        const code = yield* client.call("wait_for_code", { to: address })
        assert.strictEqual(code.json.code, "482913")
        assert.isAtMost(countTokens(code.text), 150)
      }
    })
  )

  it.effect("is at most 2,500 for any other answer by default, in many languages", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, key } = yield* inlet.inbox()
      const client = yield* McpClient.one(inlet.url, key)
      for (const [index, words] of [english, german, japanese, russian].entries()) {
        for (const part of [1, 2, 3]) {
          yield* Mail.send(inlet.smtpPort, {
            to: address,
            subject: `${index}.${part} ${words.repeat(5)}`,
            text: `${words.repeat(300)}\nhttps://app.acme.example/verify?token=${"Zm9vYmFyYmF6cXV4".repeat(12)}`
          })
        }
      }
      const events = yield* Mailbox.events({ key, domainId: yield* domainOf(key) })
      for (const name of ["get_inboxes", "list_mail", "wait_for_mail"]) {
        assert.isAtMost(countTokens((yield* client.call(name)).text), 2_500, name)
      }
      for (const { event_id } of events) {
        for (const part of ["reply", "visible", "links"]) {
          const { json, text } = yield* client.call("read_mail", { event_id, part })
          assert.isAtMost(countTokens(text), 2_500, `${json.subject} ${part}`)
        }
      }
      // A higher limit returns only what fits, with a cursor.
      const all = yield* client.call("list_mail", { limit: 25 })
      assert.isBelow(Buffer.byteLength(all.text), 9_000)

      for (let number = 1; number <= 13; number++) {
        yield* Mail.send(inlet.smtpPort, { to: address, subject: `${number} ${german}` })
      }
      // The subject of a mail that is not parsed yet is unknown.
      yield* Mailbox.events({ key, domainId: yield* domainOf(key) })
      const subjects: Array<string> = []
      let cursor: string | null = null
      do {
        const page: McpClient.Told = yield* client.call("list_mail", { trace: true, limit: 25, cursor })
        assert.isBelow(Buffer.byteLength(page.text), 9_000)
        assert.isAtMost(countTokens(page.text), 2_500)
        for (const { subject } of page.json.mails) subjects.push(subject)
        cursor = page.json.next_cursor
      } while (cursor !== null)
      assert.lengthOf(subjects, events.length + 13)
      assert.lengthOf(new Set(subjects), subjects.length)
    })
  )
})

const domainOf = Effect.fnUntraced(function* (key: string) {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("GET", "/api/domains", { key })
  return json.domains[0].id as string
})
