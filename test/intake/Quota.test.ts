import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const message = (subject: string) => `Subject: ${subject}\r\n\r\n`

layer(TestInlet.layer(), { excludeTestServices: true })("The daily quota", (it) => {
  it.effect("accepts the hundredth message of a day, and then answers RCPT with 452 4.2.2", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 99)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message("hundredth")), /^250 /)
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.match(replies[0] ?? "", /^452 4\.2\.2 .*today.*tomorrow/)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
    })
  )

  it.effect("of one recipient affects no other", () =>
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
      assert.strictEqual((yield* Mailbox.accepted(full)).length, 0)
      assert.strictEqual((yield* Mailbox.accepted(other)).length, 1)
    })
  )

  it.effect("resets at midnight UTC", () =>
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

  it.effect("accepts exactly one of fifty concurrent messages for the last place", () =>
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
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 100)
    })
  )

  it.effect("of a workspace that fills between RCPT and DATA answers 452 to the message, and nothing is stored", () =>
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
        assert.deepStrictEqual(yield* Mailbox.accepted(inbox), [])
        assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [])
        assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), inbox === full ? 100 : 0)
      }
    })
  )

  it.effect("counts a message once for several addresses of a workspace", () =>
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
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
      assert.strictEqual((yield* Mailbox.accepted({ key: inbox.key, domainId: json.id })).length, 1)
    })
  )

  it.effect("does not count refused messages", () =>
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

/** The counter of the client 127.0.0.1 for the day `ago` days back. */
const sentBefore = Effect.fnUntraced(function* (count: number, ago = 0) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM client_limits WHERE action = 'email'`
  yield* sql`
    INSERT INTO client_limits (action, client, day, count)
    VALUES ('email', '127.0.0.1', (now() AT TIME ZONE 'UTC')::date - ${ago}::integer, ${count})
  `
})

const counted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly count: number }>`
    SELECT count FROM client_limits
    WHERE action = 'email' AND client = '127.0.0.1' AND day = (now() AT TIME ZONE 'UTC')::date
  `
  return rows[0]?.count ?? 0
})

layer(TestInlet.layer({ MAX_EMAILS_PER_SENDER_PER_DAY: "3" }), { excludeTestServices: true })(
  "The quota of a client address",
  (it) => {
    it.effect("prevents one client from using up a workspace's quota, and answers it 452", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const [one, other] = [yield* inlet.inbox(), yield* inlet.inbox()]
        yield* sentBefore(2)
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, one.address, message("third")), /^250 /)
        for (const { address } of [one, other]) {
          const reply = yield* Mailbox.deliver(inlet.smtpPort, address, message("fourth"))
          assert.match(reply, /^452 4\.2\.2 Your IP address has sent .*today.*tomorrow/)
        }
        assert.strictEqual(yield* counted, 3)
        assert.strictEqual(yield* Mailbox.acceptedToday(one.domainId), 1)
        assert.strictEqual(yield* Mailbox.acceptedToday(other.domainId), 0)
        // Refused messages occupy no disk space.
        assert.strictEqual((yield* Mailbox.onDisk(one.domainId)).length, 1)
        assert.deepStrictEqual(yield* Mailbox.onDisk(other.domainId), [])

        // Another client is counted separately.
        const dialog = yield* Mailbox.begin(inlet.smtpPort, one.address, { localAddress: "127.0.0.2" })
        assert.match(yield* Mailbox.data(dialog, message("from elsewhere")), /^250 /)
      })
    )

    it.effect("resets at midnight UTC", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        yield* sentBefore(3, 1)
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message("today")), /^250 /)
        assert.strictEqual(yield* counted, 1)
      })
    )

    it.effect("counts a message once for any number of recipients, and neither a retry nor a refused message", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const [one, other, full] = [yield* inlet.inbox(), yield* inlet.inbox(), yield* inlet.inbox()]
        yield* sentBefore(0)
        const twice = `Message-ID: <twice@sender.example>\r\n${message("twice")}`
        const to = [one.address, other.address]
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, twice), /^250 /)
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, twice), /^250 /)
        const dialog = yield* Mailbox.begin(inlet.smtpPort, full.address)
        yield* Mailbox.acceptToday(full.domainId, 100)
        assert.match(yield* Mailbox.data(dialog, message("refused")), /^452 4\.2\.2 The recipient /)
        assert.strictEqual(yield* counted, 1)
      })
    )

    it.effect("accepts exactly one of twenty concurrent messages for the last place", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inboxes = [yield* inlet.inbox(), yield* inlet.inbox()]
        yield* sentBefore(2)
        const replies = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, number) => inboxes[number % 2]?.address ?? ""),
          (to) => Mailbox.deliver(inlet.smtpPort, to, message("at once")),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(replies.filter((reply) => reply.startsWith("250 ")).length, 1)
        assert.strictEqual(replies.filter((reply) => reply.startsWith("452 ")).length, 19)
        assert.strictEqual(yield* counted, 3)
      })
    )
  }
)
