import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const message = "Message-ID: <1@sender.example>\r\nSubject: once\r\n\r\nbody\r\n"

/** Moves everything that a domain has received back by this time. */
const age = Effect.fnUntraced(function* (domainId: string, interval: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE received_once SET received_at = received_at - ${interval}::interval
    WHERE inbound_email_id IN (SELECT id FROM inbound_emails WHERE domain_id = ${domainId})
  `
})

layer(TestInlet.layer(), { excludeTestServices: true })("A retried message", (it) => {
  it.effect("is answered 250 without a second event, copy or charge to the quota", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      for (let time = 0; time < 3; time++) {
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message), /^250 2\.6\.0 /)
      }
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
      assert.strictEqual((yield* Mailbox.onDisk(inbox.domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 1)
    })
  )

  it.effect("is recognized for all of its recipients without a second copy on disk", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const to = [`one@${inbox.domain}`, `two@${inbox.domain}`]
      for (let time = 0; time < 3; time++) {
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, message), /^250 2\.6\.0 /)
      }
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
      assert.strictEqual((yield* Mailbox.onDisk(inbox.domainId)).length, 1)
      // A recipient without the message receives it.
      yield* Mailbox.deliver(inlet.smtpPort, [...to, `three@${inbox.domain}`], message)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 3)
    })
  )

  it.effect("is recognized with any envelope sender and client name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      const options = { from: "bounce+2@sender.example", hello: "EHLO other.example" }
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, options), /^250 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
    })
  )

  it.effect("is recognized on two concurrent connections and stored once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialogs = yield* Effect.replicateEffect(Mailbox.begin(inlet.smtpPort, inbox.address), 8, {
        concurrency: "unbounded"
      })
      const replies = yield* Effect.forEach(dialogs, (dialog) => Mailbox.data(dialog, message), {
        concurrency: "unbounded"
      })
      assert.isTrue(replies.every((reply) => reply.startsWith("250 ")))
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 1)
    })
  )

  it.effect("is a new message if its bytes differ under the same Message-ID", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message.replace("body", "Body"))
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ text }) => text),
        ["body\n", "Body\n"]
      )
      assert.strictEqual(new Set(events.map((event) => event.inbound_email_id)).size, 2)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 2)
    })
  )

  it.effect("is a new message without a Message-ID", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: twice\r\n\r\n")
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: twice\r\n\r\n")
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
    })
  )

  it.effect("is a new message at another domain or local part, compared as sent", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const other = yield* inlet.inbox()
      for (const address of [`a@${inbox.domain}`, `b@${inbox.domain}`, `A@${inbox.domain}`, `a@${other.domain}`]) {
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, message), /^250 /)
      }
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ recipient }) => recipient),
        [`a@${inbox.domain}`, `b@${inbox.domain}`, `A@${inbox.domain}`]
      )
      assert.strictEqual((yield* Mailbox.accepted(other)).length, 1)
    })
  )

  it.effect("reaches only recipients without it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const [one, two] = [`one@${inbox.domain}`, `two@${inbox.domain}`]
      yield* Mailbox.deliver(inlet.smtpPort, one, message)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, [one, two], message), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ recipient }) => recipient),
        [one, two]
      )
    })
  )

  it.effect("is recognized for seven days and is a new message after that", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      yield* age(inbox.domainId, "6 days 23 hours 59 minutes")
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)

      yield* age(inbox.domainId, "2 minutes")
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
      // Later copies are retries of that one.
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 2)
    })
  )

  it.effect("is answered 250 while the workspace is over its quota, if RCPT came before", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      assert.match(yield* Mailbox.data(dialog, message), /^250 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
    })
  )

  it.effect("is stored if the first attempt was answered 452", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      assert.match(yield* Mailbox.data(dialog, message), /^452 /)
      yield* Mailbox.acceptToday(inbox.domainId, 0)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message), /^250 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
    })
  )
})
