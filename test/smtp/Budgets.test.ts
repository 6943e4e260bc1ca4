import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { UnknownDomain } from "../../src/intake/Recipient.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

const known = "someone@known.example"

const greeted = Effect.fnUntraced(function* () {
  const { port } = yield* SmtpAlone
  const dialog = yield* SmtpDialog.open(port)
  yield* dialog.say("EHLO client.example")
  return dialog
})

/** Repeats a command until the connection is closed. Returns the number of replies and the last one. */
const exhaust = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, line: string, times: number) {
  yield* dialog.write(`${line}\r\n`.repeat(times))
  const replies: Array<string> = []
  for (let reply = yield* dialog.reply; reply !== "" && !reply.startsWith("no reply"); reply = yield* dialog.reply) {
    replies.push(reply)
  }
  return { answered: replies.length - 1, last: replies.at(-1) ?? "" }
})

layer(SmtpAlone.layer({}), { excludeTestServices: true })("A session", (it) => {
  it.effect.each([
    ["NOOP", 99],
    ["RSET", 99],
    ["VRFY someone", 99],
    ["HELP", 99],
    // The command before the flood counts too.
    ["EHLO again.example", 99],
    ["HELO again.example", 99]
  ] as const)("with only %s ends with 421 after 100", ([command, times]) =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      const { answered, last } = yield* exhaust(dialog, command, 500)
      assert.strictEqual(answered, times)
      assert.match(last, /^421 4\.7\.0 Too many commands that send no mail/)
    })
  )

  it.effect("with 500 unknown recipients is answered 20 times and then 421, with one log line", () =>
    Effect.gen(function* () {
      const { logged } = yield* SmtpAlone
      const dialog = yield* greeted()
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      const before = logged.length
      const { answered, last } = yield* exhaust(dialog, "RCPT TO:<someone@unknown.example>", 500)
      assert.strictEqual(answered, 20)
      assert.match(last, /^421 4\.7\.0 Too many errors/)
      assert.strictEqual(logged.slice(before).length, 1)
      assert.include(logged[before], "RCPT was answered 550 5.1.2")
    })
  )

  it.effect("with repeated errors ends with 421 after 20", () =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      const mistakes = ["DATA", "RCPT TO:<a@b>", "MAIL FROM:nobody", "STARTTLS now"]
      const { answered, last } = yield* exhaust(dialog, mistakes.join("\r\n"), 100)
      assert.strictEqual(answered, 20)
      assert.match(last, /^421 4\.7\.0 Too many errors/)
    })
  )

  it.effect("with only unknown commands ends with 421", () =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      const { answered, last } = yield* exhaust(dialog, "XYZZY", 500)
      assert.isAtMost(answered, 20)
      assert.match(last, /^421 /)
    })
  )

  it.effect("may make 19 errors and send its mail", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const strangers = Array.from({ length: 19 }, (_, number) => `${number}@unknown.example`)
      const dialog = yield* Mailbox.begin(port, [...strangers, known])
      assert.match(yield* Mailbox.data(dialog, "Subject: arrives\r\n\r\n"), /^250 /)
    })
  )

  it.effect("may send RSET before each of any number of messages", () =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      for (let times = 0; times < 130; times++) {
        assert.match(yield* dialog.say("RSET"), /^250 /)
        yield* dialog.say("MAIL FROM:<sender@sender.example>")
        yield* dialog.say(`RCPT TO:<${known}>`)
        assert.match(yield* Mailbox.data(dialog, "Subject: one of many\r\n\r\n"), /^250 /)
      }
    })
  )

  it.effect("with 3,100 recipients sends its message to the first 100", () =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      const numbers = Array.from({ length: 3_100 }, (_, number) => number)
      yield* dialog.write(numbers.map((number) => `RCPT TO:<${number}@known.example>\r\n`).join(""))
      const replies = yield* Effect.forEach(numbers, () => dialog.reply)
      assert.isTrue(replies.slice(0, 100).every((reply) => reply.startsWith("250 ")))
      assert.isTrue(replies.slice(100).every((reply) => reply.startsWith("452 4.5.3 ")))
      assert.match(yield* Mailbox.data(dialog, "Subject: to a hundred\r\n\r\n"), /^250 /)
    })
  )

  it.effect("with one endlessly repeated recipient ends with 421", () =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      const { answered, last } = yield* exhaust(dialog, `RCPT TO:<${known}>`, 6_000)
      assert.strictEqual(answered, 5_100)
      assert.match(last, /^421 4\.7\.0 Too many recipients/)
    })
  )

  it.effect("with commands before the greeting ends with 421", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port, { first: "EHLO early.example\r\n" })
      assert.match(dialog.greeting, /^421 /)
      assert.strictEqual(yield* dialog.reply, "")
    })
  )

  it.effect.each([513, 2_048, 16_000])("is answered after a command of %i bytes", (length) =>
    Effect.gen(function* () {
      const dialog = yield* greeted()
      assert.match(yield* dialog.say(`NOOP ${"x".repeat(length - 7)}`), /^(250|500) /)
      assert.match(yield* dialog.say("MAIL FROM:<sender@sender.example>"), /^250 /)
    })
  )

  it.effect.each([17_000, 1_048_576])("ends with 421 after a command of %i bytes, complete or not", (length) =>
    Effect.gen(function* () {
      for (const end of ["\r\n", ""]) {
        const dialog = yield* greeted()
        yield* dialog.write(`NOOP ${"x".repeat(length)}${end}`)
        assert.match(yield* dialog.reply, /^421 /)
        assert.strictEqual(yield* dialog.reply, "")
      }
    })
  )

  it.effect("writes client input into the log only as escaped text", () =>
    Effect.gen(function* () {
      const { logged, port } = yield* SmtpAlone
      const evil = '\u001b[2Jroot\u0007"}forged'
      const dialog = yield* SmtpDialog.open(port)
      for (const line of [
        `EHLO ${evil}`,
        "EHLO fine.example",
        `MAIL FROM:<${evil}@sender.example>`,
        "MAIL FROM:<sender@sender.example>",
        `RCPT TO:<${evil}@unknown.example>`,
        `RCPT TO:<someone@${evil}.example>`,
        evil
      ]) {
        yield* dialog.say(line)
      }
      assert.match(yield* dialog.say("RCPT TO:<someone@unknown.example>"), /^550 /)
      assert.match(yield* dialog.say("QUIT"), /^221 /)
      for (const line of logged) {
        assert.notMatch(line, /[\u0000-\u001f]/)
        assert.notInclude(line, "forged")
      }
    })
  )
})

/** The recipients whose lookup may wait. */
const waited: Array<string> = []
const unknown = SmtpAlone.layer({
  intake: {
    admit: (address, { hasErred }) => {
      if (hasErred === true) waited.push(address)
      return Effect.fail(new UnknownDomain())
    }
  }
})

layer(unknown, { excludeTestServices: true })("A session with an unknown recipient", (it) => {
  it.effect("lets the lookups of later recipients wait", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const recipients = ["one", "two", "three"].map((name) => `${name}@unknown.example`)
      yield* Mailbox.begin(port, recipients)
      assert.deepStrictEqual(waited, recipients.slice(1))
    })
  )
})

layer(SmtpAlone.layer({ settings: { MAX_MESSAGE_BYTES: `${8 * 1_024 * 1_024}` } }), { excludeTestServices: true })(
  "A message",
  (it) => {
    it.effect("may be one line of 5 MB", () =>
      Effect.gen(function* () {
        const { port } = yield* SmtpAlone
        const line = `Subject: long\r\n\r\n${"y".repeat(5_000_000)}\r\n`
        assert.match(yield* Mailbox.deliver(port, known, line), /^250 /)
      })
    )
  }
)
