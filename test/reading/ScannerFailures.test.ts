import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import * as FakeScanner from "../../src/testing/FakeScanner.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { database, TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const timeout = 500

/** The service with this scanner, and a time limit of half a second. */
const worldOf = (scanner: Layer.Layer<MailScanner>) =>
  Layer.effect(TestInlet, Public.TestInlet).pipe(
    Layer.provideMerge(
      Public.TestInlet.layer({
        settings: {
          HTTP_REQUESTS_PER_SECOND: "0",
          SENDER_CHECKS: "false",
          MAIL_SCANNER_TIMEOUT: `${timeout}ms`,
          MAIL_SCANNER_CONCURRENCY: "2"
        },
        database,
        scanner
      })
    ),
    Layer.merge(WebhookReceiver.layer)
  )

/** Sends mails, and waits until all are delivered. Succeeds with their verdicts. */
const delivered = Effect.fnUntraced(function* (count: number) {
  const { all, url } = yield* WebhookReceiver
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox(url)
  yield* Effect.forEach(
    Array.from({ length: count }, (_, at) => at),
    (at) =>
      Effect.map(Mailbox.deliver(inlet.smtpPort, inbox.address, `Subject: ${at}\r\n\r\nText\r\n`), (reply) =>
        assert.match(reply, /^250 /)
      ),
    { concurrency: 8 }
  )
  const requests = yield* eventually(
    Effect.map(all, (requests) => requests.filter(({ event }) => event.recipient === inbox.address)),
    ({ length }) => length === count
  )
  assert.strictEqual(new Set(requests.map(({ event }) => event.subject)).size, count)
  return requests.map(({ event }) => event.spam.verdict as string)
})

const counted = (verdicts: ReadonlyArray<string>) => {
  const counts: Record<string, number> = {}
  for (const verdict of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}

const failing = FakeScanner.make()

layer(worldOf(failing.layer), { excludeTestServices: true })("Mail goes on", (it) => {
  it.effect("beside a scanner that fails at once", () =>
    Effect.gen(function* () {
      yield* failing.will("fail")
      assert.deepStrictEqual(counted(yield* delivered(20)), { unknown: 20 })
      yield* failing.will("work")
      yield* eventually(delivered(1), ([verdict]) => verdict === "clean")
    })
  )

  it.effect("beside one that refuses a message, and scans the next", () =>
    Effect.gen(function* () {
      yield* failing.will("refuse")
      assert.deepStrictEqual(counted(yield* delivered(10)), { unknown: 10 })
      yield* failing.will("work")
      assert.deepStrictEqual(counted(yield* delivered(10)), { clean: 10 })
    })
  )
})

/** The scans that a scanner began, none of which ends. */
let begun = 0
const hanging = Layer.succeed(MailScanner, {
  isActive: true,
  scan: () =>
    Effect.suspend(() => {
      begun++
      return Effect.never
    })
})

layer(worldOf(hanging), { excludeTestServices: true })("Beside a scanner that hangs", (it) => {
  it.effect("mail goes on once each as `unknown`, and soon none waits for it", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) assert.deepStrictEqual(counted(yield* delivered(20)), { unknown: 20 })
      const before = begun
      assert.isAtMost(before, 6)
      assert.deepStrictEqual(counted(yield* delivered(100)), { unknown: 100 })
      // One of them may be a trial.
      assert.isAtMost(begun - before, 1)
    })
  )
})

const broken = Layer.succeed(MailScanner, { isActive: true, scan: () => Effect.die(new Error("a bug")) })

layer(worldOf(broken), { excludeTestServices: true })("Beside a scanner with a bug", (it) => {
  it.effect("mail goes on as `unknown`", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(counted(yield* delivered(5)), { unknown: 5 })
    })
  )
})

const slow = FakeScanner.make()

layer(worldOf(slow.layer), { excludeTestServices: true })("A mail whose process stops", (it) => {
  it.effect("during its scan is scanned again, and becomes one event", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: twice\r\n\r\nText\r\n"), /^250 /)
      yield* eventually(Mailbox.events(inbox), ({ length }) => length === 1)
      assert.lengthOf(slow.mails, 1)
      // As after a crash between the scan and the insert.
      yield* sql`DELETE FROM deliveries WHERE domain_id = ${inbox.domainId}`
      yield* sql`DELETE FROM events WHERE domain_id = ${inbox.domainId}`
      yield* sql`
        UPDATE inbound_emails SET state = 'received', read_recipients = 0, leased_until = now() - interval '1 second'
        WHERE domain_id = ${inbox.domainId}
      `
      const [event] = yield* eventually(Mailbox.events(inbox), ({ length }) => length === 1)
      assert.strictEqual(event.spam.verdict, "clean")
      const [first, second] = slow.mails
      assert.deepStrictEqual(Buffer.from(second?.message ?? []), Buffer.from(first?.message ?? []))
      assert.strictEqual(second?.id, first?.id)
    })
  )
})
