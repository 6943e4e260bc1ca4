import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const message = (subject: string) => `Subject: ${subject}\r\n\r\n`

layer(TestInlet.layer(), { excludeTestServices: true, timeout: "60 seconds" })("The daily quota", (it) => {
  it.effect("takes the hundredth message of a day, and answers RCPT with 452 4.2.2 from then on", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 99)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message("hundredth")), /^250 /)
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.match(replies[0] ?? "", /^452 4\.2\.2 .*today.*tomorrow/)
      assert.strictEqual((yield* Mailbox.events(inbox)).length, 1)
    })
  )

  it.effect("of one recipient is nobody else's", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const full = yield* inlet.inbox()
      const other = yield* inlet.inbox()
      yield* Mailbox.acceptToday(full.domainId, 100)
      const dialog = yield* Mailbox.begin(inlet.smtpPort, [full.address, other.address])
      assert.deepStrictEqual(
        dialog.replies.map((reply) => reply.slice(0, 9)),
        ["452 4.2.2", "250 2.1.5"]
      )
      assert.match(yield* Mailbox.data(dialog, message("for the other")), /^250 /)
      assert.strictEqual((yield* Mailbox.events(full)).length, 0)
      assert.strictEqual((yield* Mailbox.events(other)).length, 1)
    })
  )

  it.effect("begins anew with the UTC day", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      yield* sql`
        UPDATE daily_intake SET day = day - 1
        WHERE workspace_id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})
      `
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message("today")), /^250 /)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 1)
    })
  )

  it.effect("lets exactly one of fifty senders through who come at once for the last place", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 99)
      const senders = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, number) => number),
        (number) =>
          Effect.map(Mailbox.begin(inlet.smtpPort, `${number}@${inbox.domain}`), (dialog) => ({ dialog, number })),
        { concurrency: "unbounded" }
      )
      assert.isTrue(senders.every(({ dialog }) => dialog.replies[0]?.startsWith("250 ")))
      const replies = yield* Effect.forEach(
        senders,
        ({ dialog, number }) => Mailbox.data(dialog, message(`from ${number}`)),
        { concurrency: "unbounded" }
      )
      const codes = replies.map((reply) => reply.slice(0, 9)).sort()
      assert.deepStrictEqual(codes, ["250 2.6.0", ...Array.from({ length: 49 }, () => "452 4.2.2")])
      assert.strictEqual((yield* Mailbox.events(inbox)).length, 1)
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 100)
    })
  )

  it.effect(
    "of one workspace that fills up between RCPT and DATA makes it 452 for the message, and nothing is kept",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inboxes = [yield* inlet.inbox(), yield* inlet.inbox(), yield* inlet.inbox()]
        const [, full] = inboxes
        assert.isDefined(full)
        const dialog = yield* Mailbox.begin(
          inlet.smtpPort,
          inboxes.map(({ address }) => address)
        )
        yield* Mailbox.acceptToday(full.domainId, 100)
        assert.match(yield* Mailbox.data(dialog, message("for three")), /^452 4\.2\.2 /)
        for (const inbox of inboxes) {
          assert.deepStrictEqual(yield* Mailbox.events(inbox), [])
          assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [])
          assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), inbox === full ? 100 : 0)
        }
      })
  )

  it.effect("counts a message once, however many of a workspace's addresses it is for", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const { json } = yield* inlet.call("POST", "/api/domains", {
        key: inbox.key,
        body: { domain: "second.example" }
      })
      yield* sql`UPDATE domains SET status = 'live', verified_at = now() WHERE id = ${json.id}`
      const to = [`one@${inbox.domain}`, `two@${inbox.domain}`, "three@second.example"]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, message("to three")), /^250 /)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 1)
      assert.strictEqual((yield* Mailbox.events(inbox)).length, 2)
      assert.strictEqual((yield* Mailbox.events({ key: inbox.key, domainId: json.id })).length, 1)
    })
  )

  it.effect("counts nothing that was not accepted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const loop = "Received: from a.example by b.example\r\n".repeat(60)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `${loop}\r\n`), /^554 /)
      const large = `Subject: large\r\n\r\n${"x".repeat(2 * 1_024 * 1_024)}`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, large), /^552 /)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 0)
    })
  )
})
