import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as DataMemory from "../../src/intake/DataMemory.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

describe("The DATA memory", () => {
  it("is shared between messages", () => {
    const memory = DataMemory.make(100)
    const first = memory.enter("a")
    const second = memory.enter("a")
    assert.deepStrictEqual([first.take(60), second.take(40), first.take(1)], [true, true, false])
    assert.deepStrictEqual([first.wasRefused(), second.wasRefused()], [true, false])
    first.leave()
    assert.deepStrictEqual([first.take(1), second.take(60), second.take(1)], [false, true, false])
  })

  it("has room for a client below its equal share, whatever others use", () => {
    const memory = DataMemory.make(100)
    const greedy = memory.enter("a")
    assert.isTrue(greedy.take(100))
    const modest = memory.enter("b")
    assert.deepStrictEqual([modest.take(50), modest.take(1), greedy.take(1)], [true, false, false])
  })

  it("never exceeds twice the limit, for any number of clients", () => {
    const memory = DataMemory.make(100)
    let taken = 0
    for (let client = 0; client < 50; client++) {
      const share = memory.enter(`${client}`)
      while (share.take(1)) taken++
    }
    assert.strictEqual(taken, 200)
  })

  it("is released once for each message", () => {
    const memory = DataMemory.make(100)
    const [one, other] = [memory.enter("a"), memory.enter("a")]
    one.take(50)
    other.take(50)
    one.leave()
    one.leave()
    assert.isTrue(memory.enter("a").take(50))
    assert.isFalse(memory.enter("a").take(1))
  })

  it("stays reserved for work that goes on after a late answer", () => {
    const memory = DataMemory.make(100)
    const share = memory.enter("a")
    share.take(80)
    const ended = share.keep()
    share.leave()
    assert.isFalse(memory.enter("a").take(80))
    ended()
    const next = memory.enter("a")
    assert.isTrue(next.take(80))
    next.keep()()
    assert.isFalse(memory.enter("a").take(80))
    next.leave()
    assert.isTrue(memory.enter("a").take(80))
  })

  it("is unlimited at 0", () => {
    assert.isTrue(DataMemory.make(0).enter("a").take(Number.MAX_SAFE_INTEGER))
  })
})

const known = "someone@known.example"

/** A session during a message of which 80 KB have been sent. */
const halfway = Effect.fnUntraced(function* () {
  const { port } = yield* SmtpAlone
  const dialog = yield* SmtpDialog.open(port)
  yield* dialog.say("EHLO client.example")
  yield* dialog.say("MAIL FROM:<sender@sender.example>")
  yield* dialog.say(`RCPT TO:<${known}>`)
  yield* dialog.say("DATA")
  yield* dialog.write(`${"a".repeat(998)}\r\n`.repeat(80))
  return dialog
})

const delivered = (localAddress?: string) =>
  Effect.flatMap(SmtpAlone, ({ port }) =>
    Mailbox.deliver(port, known, `Subject: more\r\n\r\n${`${"b".repeat(998)}\r\n`.repeat(80)}`, { localAddress })
  )

layer(SmtpAlone.layer({ settings: { MAX_MESSAGE_BYTES: "100000", SMTP_MAX_DATA_BYTES: "200000" } }), {
  excludeTestServices: true
})("When incoming messages exceed SMTP_MAX_DATA_BYTES", (it) => {
  it.effect("a message is answered 452 4.3.1, and 250 once earlier ones are answered", () =>
    Effect.gen(function* () {
      const { logged } = yield* SmtpAlone
      const first = yield* halfway()
      const second = yield* halfway()
      const refusal = yield* eventually(delivered(), (reply) => !reply.startsWith("250"))
      assert.strictEqual(refusal, "452 4.3.1 Too much mail is coming in at once; please try again")
      assert.isTrue(logged.some((line) => line.includes("DATA was answered 452 4.3.1")))
      // A message below half of the limit may continue.
      assert.match(yield* delivered("127.0.0.2"), /^250 /)
      assert.match(yield* first.say("."), /^250 /)
      assert.match(yield* delivered(), /^250 /)
      assert.match(yield* second.say("."), /^250 /)
    })
  )

  it.effect("the memory of a client that disconnects during a message is released", () =>
    Effect.gen(function* () {
      const dialogs = [yield* halfway(), yield* halfway()]
      yield* eventually(delivered(), (reply) => reply.startsWith("452 4.3.1"))
      for (const dialog of dialogs) yield* dialog.hangUp(true)
      yield* eventually(delivered(), (reply) => reply.startsWith("250"))
    })
  )
})
