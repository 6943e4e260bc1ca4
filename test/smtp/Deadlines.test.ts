import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

const known = "someone@known.example"

/** Writes the same bytes every few milliseconds until the test ends. */
const dribble = (dialog: SmtpDialog.SmtpDialog, bytes: string) =>
  Effect.forkScoped(Effect.repeat(dialog.write(bytes), Schedule.spaced("20 millis")))

/** What arrives until the connection closes, and after how many milliseconds. */
const untilClosed = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog) {
  const began = yield* Clock.currentTimeMillis
  const heard: Array<string> = []
  for (let reply = yield* dialog.reply; reply !== ""; reply = yield* dialog.reply) {
    heard.push(reply)
    if (reply.startsWith("no reply")) break
  }
  return { last: heard.at(-1) ?? "", milliseconds: (yield* Clock.currentTimeMillis) - began }
})

/** Far above the deadlines below, for a busy machine, and far below the usual ones of minutes. */
const soon = 8_000

const commands = SmtpAlone.layer({ bounds: { lookMilliseconds: 10, commandMilliseconds: 1_000 } })

layer(commands, { excludeTestServices: true, concurrent: true })("The command deadline", (it) => {
  it.effect.each([
    ["says nothing", ""],
    ["sends single bytes of a command", "x"],
    ["sends bytes without a line end", "NOOP\r"]
  ] as const)("ends a session that %s, with 421", ([, bytes]) =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      if (bytes !== "") yield* dribble(dialog, bytes)
      const { last, milliseconds } = yield* untilClosed(dialog)
      assert.match(last, /^421 4\.7\.0 Waited too long for a command/)
      assert.isAbove(milliseconds, 900)
      assert.isBelow(milliseconds, soon)
    })
  )

  it.effect("restarts with every reply", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      for (let times = 0; times < 5; times++) {
        yield* Effect.sleep("300 millis")
        assert.match(yield* dialog.say("NOOP"), /^250 /)
      }
    })
  )

  it.effect("does not apply to a message", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* Mailbox.begin(port, known)
      yield* dialog.say("DATA")
      for (const byte of "Subject: x") {
        yield* Effect.sleep("150 millis")
        yield* dialog.write(byte)
      }
      assert.match(yield* dialog.say("\r\n\r\n."), /^250 /)
    })
  )

  it.effect("ends a missing handshake", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say("STARTTLS"), /^220 /)
      const { milliseconds } = yield* untilClosed(dialog)
      assert.isBelow(milliseconds, soon)
    })
  )

  it.effect("ends a handshake that arrives byte by byte", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say("STARTTLS"), /^220 /)
      // The start of a TLS record of 16 KiB.
      yield* dialog.write(Uint8Array.of(0x16, 0x03, 0x01, 0x40, 0x00))
      yield* dribble(dialog, "\u0001")
      const { milliseconds } = yield* untilClosed(dialog)
      assert.isBelow(milliseconds, soon)
    })
  )
})

const transactions = SmtpAlone.layer({
  bounds: { lookMilliseconds: 10, transactionMilliseconds: 1_400, commandMilliseconds: 1_000 },
  // Longer than the deadlines of the client.
  intake: {
    receive: () => Effect.as(Effect.sleep("1800 millis"), [])
  }
})

layer(transactions, { excludeTestServices: true, concurrent: true })("The transaction deadline", (it) => {
  it.effect("ends a slow message", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* Mailbox.begin(port, known)
      assert.match(yield* dialog.say("DATA"), /^354 /)
      yield* dribble(dialog, "x")
      const { last, milliseconds } = yield* untilClosed(dialog)
      assert.match(last, /^421 4\.7\.0 This message took too long/)
      assert.isBelow(milliseconds, soon)
    })
  )

  it.effect("ends an endless list of recipients", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* Mailbox.begin(port, known)
      yield* dribble(dialog, `RCPT TO:<${known}>\r\n`)
      const { last } = yield* untilClosed(dialog)
      assert.match(last, /^421 4\.7\.0 This message took too long/)
    })
  )

  it.effect("excludes the time of the server", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* Mailbox.begin(port, known)
      assert.match(yield* Mailbox.data(dialog, "Subject: slowly kept\r\n\r\n"), /^250 /)
      assert.match(yield* dialog.say("NOOP"), /^250 /)
    })
  )

  it.effect("is separate for each message", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port)
      yield* dialog.say("EHLO client.example")
      for (let times = 0; times < 5; times++) {
        assert.match(yield* dialog.say("MAIL FROM:<sender@sender.example>"), /^250 /)
        yield* Effect.sleep("300 millis")
        assert.match(yield* dialog.say("RSET"), /^250 /)
      }
    })
  )
})

layer(SmtpAlone.layer({ bounds: { silenceMilliseconds: 4_000 } }), { excludeTestServices: true })(
  "Inactivity",
  (it) => {
    it.effect("during a message ends the session with 421", () =>
      Effect.gen(function* () {
        const { port } = yield* SmtpAlone
        const dialog = yield* Mailbox.begin(port, known)
        assert.match(yield* dialog.say("DATA"), /^354 /)
        yield* dialog.write("Subject: half")
        const { last, milliseconds } = yield* untilClosed(dialog)
        assert.match(last, /^421 /)
        assert.isBelow(milliseconds, 15_000)
      })
    )
  }
)
