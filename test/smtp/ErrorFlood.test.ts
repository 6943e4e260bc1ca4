import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { QuotaReached } from "../../src/intake/Recipient.ts"
import * as ErrorFlood from "../../src/smtp/ErrorFlood.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

const known = "someone@known.example"

/** Begins a message from this address with unknown recipients. Returns the replies up to the end of the session. */
const harvest = Effect.fnUntraced(function* (localAddress: string, firstRecipient = "0@unknown.example") {
  const { port } = yield* SmtpAlone
  const dialog = yield* SmtpDialog.open(port, { localAddress })
  yield* dialog.say("EHLO client.example")
  yield* dialog.say("MAIL FROM:<sender@sender.example>")
  const strangers = Array.from({ length: 30 }, (_, number) => `${number + 1}@unknown.example`)
  yield* dialog.write([firstRecipient, ...strangers].map((to) => `RCPT TO:<${to}>\r\n`).join(""))
  const replies: Array<string> = []
  for (let reply = yield* dialog.reply; reply !== ""; reply = yield* dialog.reply) replies.push(reply.slice(0, 3))
  return replies
})

const times = (code: string, count: number) => Array.from({ length: count }, () => code)

// One look takes longer than the tests, so the flood goes on.
const bounds = { lookMilliseconds: 600_000 }
const flooded = SmtpAlone.layer({ bounds, flood: { errors: 20 } })

layer(flooded, { excludeTestServices: true })("In a flood of refused recipients", (it) => {
  it.effect("a session ends with 421 after three errors, and the one that begins it after 20", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* harvest("127.0.0.2"), [...times("550", 20), "421"])
      assert.deepStrictEqual(yield* harvest("127.0.0.3"), [...times("550", 3), "421"])
    })
  )

  it.effect("a session with an accepted recipient may make 20 errors", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* harvest("127.0.0.4", known), ["250", ...times("550", 20), "421"])
    })
  )

  it.effect("an address gets no session after three that ended, and others do", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      for (let session = 0; session < 3; session++) yield* harvest("127.0.0.5")
      const refused = yield* SmtpDialog.open(port, { localAddress: "127.0.0.5" })
      assert.match(refused.greeting, /^421 4\.7\.0 \S+ Too many errors from your address; please come back later/)
      assert.strictEqual(yield* refused.reply, "")
      assert.match((yield* SmtpDialog.open(port, { localAddress: "127.0.0.6" })).greeting, /^220 /)
    })
  )

  it.effect("an address that sent mail, as a relay does, gets every session", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      const dialog = yield* SmtpDialog.open(port, { localAddress: "127.0.0.7" })
      yield* dialog.say("EHLO relay.example")
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      yield* dialog.say(`RCPT TO:<${known}>`)
      assert.match(yield* Mailbox.data(dialog, "Subject: arrives\r\n\r\n"), /^250 /)
      for (let session = 0; session < 5; session++) yield* harvest("127.0.0.7")
      assert.match((yield* SmtpDialog.open(port, { localAddress: "127.0.0.7" })).greeting, /^220 /)
    })
  )
})

const relayed = SmtpAlone.layer({ bounds, flood: { errors: 1 }, settings: { SMTP_XFORWARD_FROM: "127.0.0.8/32" } })

layer(relayed, { excludeTestServices: true })("A mail server in front", (it) => {
  it.effect("gets every session in a flood, also before it has sent mail", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      for (let session = 0; session < 5; session++) yield* harvest("127.0.0.8")
      assert.match((yield* SmtpDialog.open(port, { localAddress: "127.0.0.8" })).greeting, /^220 /)
    })
  )
})

const full = SmtpAlone.layer({
  bounds,
  flood: { errors: 1 },
  intake: { admit: () => Effect.fail(new QuotaReached({ limit: 1, workspaceIds: [] })) }
})

layer(full, { excludeTestServices: true })("Recipients that are refused for a while", (it) => {
  it.effect("are no flood, however many", () =>
    Effect.gen(function* () {
      const { port } = yield* SmtpAlone
      for (let session = 0; session < 4; session++) {
        assert.deepStrictEqual(yield* harvest("127.0.0.9"), [...times("452", 20), "421"])
      }
      assert.match((yield* SmtpDialog.open(port, { localAddress: "127.0.0.9" })).greeting, /^220 /)
    })
  )
})

describe("A flood of errors", () => {
  const bounds = ErrorFlood.FloodBounds.defaultValue()
  const begun = () => {
    const flood = ErrorFlood.make(bounds)
    for (let error = 0; error < bounds.errors; error++) flood.erred(0)
    return flood
  }

  it("begins with 200 errors between two looks, and ends after ten seconds without as many", () => {
    const flood = ErrorFlood.make(bounds)
    for (let error = 0; error < 199; error++) flood.erred(0)
    flood.looked()
    for (let error = 0; error < 199; error++) flood.erred(1_000)
    assert.isFalse(flood.isOn(1_000))
    flood.erred(1_000)
    assert.isTrue(flood.isOn(10_999))
    assert.isFalse(flood.isOn(11_000))
  })

  it("shuts out a network whose three last sessions ended within a minute of each other", () => {
    const flood = begun()
    for (const at of [0, 60_000, 60_001]) flood.ended("192.0.2.1", at)
    for (let error = 0; error < bounds.errors; error++) flood.erred(60_001)
    assert.isFalse(flood.isShut("192.0.2.1", 60_002))
    flood.looked()
    for (let error = 0; error < bounds.errors; error++) flood.erred(60_002)
    flood.ended("192.0.2.1", 60_002)
    assert.isTrue(flood.isShut("192.0.2.1", 60_003))
    assert.isFalse(flood.isShut("192.0.2.2", 60_003))
  })

  it("shuts out no network when it is over", () => {
    const flood = begun()
    for (const at of [1, 2, 3]) flood.ended("192.0.2.1", at)
    assert.isTrue(flood.isShut("192.0.2.1", 9_999))
    assert.isFalse(flood.isShut("192.0.2.1", 10_000))
  })

  it("counts mail of a network for a minute", () => {
    const flood = begun()
    flood.sent("192.0.2.1", 0)
    for (const at of [1, 2, 3]) flood.ended("192.0.2.1", at)
    assert.isFalse(flood.isShut("192.0.2.1", 9_000))
    flood.looked()
    for (let error = 0; error < bounds.errors; error++) flood.erred(59_000)
    flood.ended("192.0.2.1", 59_000)
    assert.isFalse(flood.isShut("192.0.2.1", 59_999))
    assert.isTrue(flood.isShut("192.0.2.1", 60_000))
  })
})
