import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Schedule } from "effect"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The code of a process that ended because it was told to. */
const told = { code: 130, signal: null }

/** Tells the process to stop and says how many seconds that took. */
const stop = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  const asked = yield* Clock.currentTimeMillis
  yield* inlet.signal("SIGTERM")
  assert.deepStrictEqual(yield* inlet.ending, told, yield* inlet.output)
  return ((yield* Clock.currentTimeMillis) - asked) / 1_000
})

/** A session in the middle of its message. */
const halfSent = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, to: string, subject: string) {
  const dialog = yield* SmtpDialog.open(inlet.smtpPort)
  for (const line of ["EHLO sender.example", "MAIL FROM:<a@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
    assert.match(yield* dialog.say(line), /^[23]5/m)
  }
  yield* dialog.write(`Subject: ${subject}\r\n\r\nThe first half, `)
  return dialog
})

/** Answers that the test gives when it likes. */
const answersOf = (receiver: WebhookReceiver["Service"]) => {
  const open: Array<ServerResponse> = []
  return Effect.as(
    receiver.answerAlways((_request, response) => void open.push(response)),
    open
  )
}

const eventsOf = (inlet: InletProcess.InletProcess, { domainId, key }: InletProcess.Inbox) =>
  Effect.map(
    inlet.call("GET", `/api/domains/${domainId}/events`, { key }),
    ({ json }) =>
      json.events as ReadonlyArray<{
        readonly subject: string
        readonly text: string
        readonly delivery: { readonly status: string; readonly attempts: number }
      }>
  )

describe("A start", { timeout: 120_000 }, () => {
  it.live("leaves nobody without an answer who comes before it serves", () =>
    Effect.gen(function* () {
      const { inlet } = yield* InletProcess.spawned(yield* InletProcess.installation)
      const knocked: Array<string> = []
      const knock = inlet.call("GET", "/health").pipe(
        Effect.map(({ json, status }) => (status === 200 ? "ok" : `${status} ${json?.error}`)),
        Effect.catchDefect(() => Effect.succeed("refused")),
        Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.succeed("held without an answer") }),
        Effect.tap((answer) => Effect.sync(() => knocked.push(answer)))
      )
      // Close together, so that one falls between the opening of the port and the first answer.
      yield* Effect.repeat(knock, { until: (answer) => answer === "ok", schedule: Schedule.spaced("3 millis") }).pipe(
        Effect.replicateEffect(3, { concurrency: "unbounded" }),
        Effect.timeout("60 seconds")
      )
      for (const answer of knocked) assert.match(answer, /^(ok|refused|503 The service is starting.*)$/)
    })
  )
})

describe("SIGTERM", { timeout: 120_000 }, () => {
  it.live("ends an idle process at once, without a word of complaint", () =>
    Effect.gen(function* () {
      const inlet = yield* InletProcess.start({ ...(yield* InletProcess.installation), SMTP_GREETING_DELAY: "500ms" })
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO sender.example")
      // Accepted behind it, and not greeted yet.
      const newcomer = yield* Effect.forkChild(SmtpDialog.open(inlet.smtpPort))
      assert.isTrue(yield* InletProcess.isAnswered(inlet.smtpPort))
      assert.isBelow(yield* stop(inlet), 5)
      assert.match((yield* Fiber.join(newcomer)).greeting, /^421 |^$/)
      assert.match(yield* dialog.reply, /^421 /)
      assert.notMatch(yield* inlet.output, /error|bug|warn/i)
    })
  )

  it.live("lets a message in the middle of its DATA come to its end, and takes none after it", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const receiver = yield* WebhookReceiver.make
      const first = yield* InletProcess.start(installation)
      const inbox = yield* first.inbox(receiver.url)
      const dialog = yield* halfSent(first, inbox.address, "to the end")

      const stopping = yield* Effect.forkChild(stop(first))
      yield* eventually(InletProcess.isAnswered(first.smtpPort), (yes) => !yes)
      assert.match(yield* dialog.say("and the second.\r\n."), /^250/)
      // The next one has to come back.
      assert.match(yield* dialog.reply, /^421 /)
      assert.isBelow(yield* Fiber.join(stopping), 10)

      const second = yield* InletProcess.start(installation)
      const [event, ...others] = yield* eventually(
        eventsOf(second, inbox),
        (events) => events[0]?.delivery.status === "delivered"
      )
      assert.deepStrictEqual(others, [])
      assert.strictEqual(event?.subject, "to the end")
      assert.match(event?.text ?? "", /^The first half, and the second\./)
      assert.lengthOf(yield* receiver.all, 1)
    })
  )

  it.live("waits for the answers of the webhooks that are being asked", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const receiver = yield* WebhookReceiver.make
      const answers = yield* answersOf(receiver)
      const first = yield* InletProcess.start(installation)
      const inbox = yield* first.inbox(receiver.url)
      yield* Effect.replicateEffect(Mail.send(first.smtpPort, { to: inbox.address }), 5)
      yield* eventually(receiver.all, (requests) => requests.length === 5)

      const stopping = yield* Effect.forkChild(stop(first))
      yield* eventually(InletProcess.isAnswered(first.smtpPort), (yes) => !yes)
      for (const answer of answers) answer.end()
      assert.isBelow(yield* Fiber.join(stopping), 10)

      const second = yield* InletProcess.start(installation)
      const events = yield* eventsOf(second, inbox)
      assert.lengthOf(events, 5)
      for (const { delivery } of events) assert.deepInclude(delivery, { status: "delivered", attempts: 1 })
      assert.lengthOf(yield* receiver.all, 5)
    })
  )

  it.live("ends within 30 seconds whatever hangs, and the next start goes on with what was given back", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const settings = { ...installation, WEBHOOK_TIMEOUT: "10m" }
      const receiver = yield* WebhookReceiver.make
      yield* answersOf(receiver)
      const first = yield* InletProcess.start(settings)
      const inbox = yield* first.inbox(receiver.url)
      yield* Effect.replicateEffect(Mail.send(first.smtpPort, { to: inbox.address, subject: "given back" }), 3)
      yield* eventually(receiver.all, (requests) => requests.length === 3)
      const dialog = yield* halfSent(first, inbox.address, "never whole")
      const events = `/api/domains/${inbox.domainId}/events`
      const { json } = yield* first.call("GET", events, { key: inbox.key })
      const waiting = [
        yield* Effect.forkChild(
          Effect.exit(first.call("GET", `${events}?wait=60&after=${json.events[0].event_id}`, { key: inbox.key }))
        ),
        yield* Effect.forkChild(Effect.exit(first.call("GET", `${events}/stream`, { key: inbox.key })))
      ]

      yield* first.signal("SIGTERM")
      assert.isBelow(yield* stop(first), 30)
      assert.match(yield* dialog.reply, /^421 |^$/)
      yield* Effect.forEach(waiting, Fiber.await)

      yield* receiver.answerAlways(200)
      const second = yield* InletProcess.start(settings)
      // At once: nobody waits for the leases of ten minutes.
      const delivered = yield* eventually(
        eventsOf(second, inbox),
        (events) => events.length > 0 && events.every(({ delivery }) => delivery.status === "delivered"),
        "10 seconds"
      )
      assert.deepStrictEqual(
        delivered.map(({ delivery, subject }) => ({ attempts: delivery.attempts, subject })),
        Array.from({ length: 3 }, () => ({ attempts: 1, subject: "given back" }))
      )
      assert.lengthOf(yield* receiver.all, 6)
    })
  )
})
