import type { ServerResponse } from "node:http"
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Schedule, Scope } from "effect"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The exit after SIGTERM, which supervisors take for a success. */
const told = { code: 0, signal: null }

/** Sends SIGTERM and returns the seconds until the exit. */
const stop = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  const asked = yield* Clock.currentTimeMillis
  yield* inlet.signal("SIGTERM")
  assert.deepStrictEqual(yield* inlet.ending, told, yield* inlet.output)
  return ((yield* Clock.currentTimeMillis) - asked) / 1_000
})

/** One installation whose process stops and starts again within and between tests. */
class Installation extends Context.Service<
  Installation,
  {
    /** Starts a new process without waiting for it. */
    readonly spawned: Effect.Effect<InletProcess.InletProcess>
    /** The running process, or a new one. */
    readonly running: Effect.Effect<InletProcess.InletProcess>
  }
>()("inlet/test/flows/Installation") {
  static readonly layer = Layer.effect(
    Installation,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const settings = { ...(yield* InletProcess.installation), SMTP_GREETING_DELAY: "500ms" }
      let process: Effect.Success<ReturnType<typeof InletProcess.spawned>> | undefined

      const spawn = Effect.gen(function* () {
        if (process !== undefined) {
          yield* process.inlet.signal("SIGKILL")
          yield* process.inlet.ending
        }
        process = yield* Scope.provide(InletProcess.spawned(settings), scope)
        return process
      })
      return Installation.of({
        spawned: Effect.map(spawn, ({ inlet }) => inlet),
        running: Effect.gen(function* () {
          const present = process === undefined || (yield* process.hasEnded) ? yield* spawn : process
          yield* InletProcess.serving(present)
          return present.inlet
        })
      })
    })
  )
}

/** A session in the middle of its message. */
const halfSent = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, to: string, subject: string) {
  const dialog = yield* SmtpDialog.open(inlet.smtpPort)
  for (const line of ["EHLO sender.example", "MAIL FROM:<a@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
    assert.match(yield* dialog.say(line), /^[23]5/m)
  }
  yield* dialog.write(`Subject: ${subject}\r\n\r\nThe first half, `)
  return dialog
})

/** Answers that the test triggers. */
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

const inTurn = { concurrent: false }

// The last test takes 30 s by design, so it runs beside the others, which are sequential.
describe("Start and stop", { concurrent: true }, () => {
  layer(Installation.layer, { excludeTestServices: true, concurrent: true })("of one installation", (it) => {
    describe("A start", inTurn, () => {
      it.effect("answers every client that connects before it serves", () =>
        Effect.gen(function* () {
          const inlet = yield* (yield* Installation).spawned
          const knocked: Array<string> = []
          const knock = inlet.call("GET", "/health").pipe(
            Effect.map(({ json, status }) => (status === 200 ? "ok" : `${status} ${json?.error}`)),
            Effect.catchDefect(() => Effect.succeed("refused")),
            Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.succeed("held without an answer") }),
            Effect.tap((answer) => Effect.sync(() => knocked.push(answer)))
          )
          // Frequent enough that one falls between the opening of the port and the first answer.
          yield* Effect.repeat(knock, {
            until: (answer) => answer === "ok",
            schedule: Schedule.spaced("3 millis")
          }).pipe(Effect.replicateEffect(3, { concurrency: "unbounded" }), Effect.timeout("60 seconds"))
          for (const answer of knocked) assert.match(answer, /^(ok|refused|503 The service is starting.*)$/)
        })
      )
    })

    describe("SIGTERM", inTurn, () => {
      it.effect("stops an idle process at once without a warning", () =>
        Effect.gen(function* () {
          const inlet = yield* (yield* Installation).running
          const dialog = yield* SmtpDialog.open(inlet.smtpPort)
          yield* dialog.say("EHLO sender.example")
          // Accepted by the kernel but not greeted.
          const newcomer = yield* Effect.forkChild(SmtpDialog.open(inlet.smtpPort))
          assert.isTrue(yield* Ports.isAnswered(inlet.smtpPort))
          // A stop that waits for a session takes 16 s.
          assert.isBelow(yield* stop(inlet), 12)
          const { greeting, reply } = yield* Fiber.join(newcomer)
          // On a busy machine the greeting comes before the signal.
          assert.match(greeting.startsWith("220 ") ? yield* reply : greeting, /^421 |^$/)
          assert.match(yield* dialog.reply, /^421 /)
          assert.notMatch(yield* inlet.output, /error|bug|warn/i)
        })
      )

      it.effect("finishes a message during DATA and accepts none after it", () =>
        Effect.gen(function* () {
          const installation = yield* Installation
          const receiver = yield* WebhookReceiver.make
          const first = yield* installation.running
          const inbox = yield* first.inbox(receiver.url)
          const dialog = yield* halfSent(first, inbox.address, "to the end")

          const stopping = yield* Effect.forkChild(stop(first))
          yield* eventually(Ports.isAnswered(first.smtpPort), (yes) => !yes)
          assert.match(yield* dialog.say("and the second.\r\n."), /^250/)
          // The next sender must retry.
          assert.match(yield* dialog.reply, /^421 /)
          assert.isBelow(yield* Fiber.join(stopping), 10)

          const second = yield* installation.running
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

      it.effect("is named as the reason for a mail whose session it ended", () =>
        Effect.gen(function* () {
          const installation = yield* Installation
          const first = yield* installation.running
          const inbox = yield* first.inbox("http://127.0.0.1:9/")
          const dialog = yield* SmtpDialog.open(first.smtpPort)
          for (const line of ["EHLO a.example", "MAIL FROM:<cut@sender.example>", `RCPT TO:<${inbox.address}>`]) {
            assert.match(yield* dialog.say(line), /^250/m)
          }
          const stopping = yield* Effect.forkChild(stop(first))
          yield* eventually(Ports.isAnswered(first.smtpPort), (yes) => !yes)
          assert.match(yield* dialog.say("DATA"), /^421 4\.4\.2 Server shutting down/)
          yield* Fiber.join(stopping)
          const second = yield* installation.running
          const { json } = yield* second.call("GET", `/api/domains/${inbox.domainId}/refusals`, { key: inbox.key })
          assert.deepStrictEqual(
            json.refusals.map(({ reason, remedy }: { readonly reason: string; readonly remedy: string }) => [
              reason,
              remedy
            ]),
            [["shutdown", "The service was restarted. The sender retries by itself"]]
          )
        })
      )

      it.effect("waits for the answers of running webhook requests", () =>
        Effect.gen(function* () {
          const installation = yield* Installation
          const receiver = yield* WebhookReceiver.make
          const answers = yield* answersOf(receiver)
          const first = yield* installation.running
          // A new domain has a concurrency of 1.
          const inboxes = yield* Effect.replicateEffect(first.inbox(receiver.url), 5)
          yield* Effect.forEach(inboxes, ({ address }) => Mail.send(first.smtpPort, { to: address }))
          yield* eventually(receiver.all, (requests) => requests.length === 5)

          const stopping = yield* Effect.forkChild(stop(first))
          yield* eventually(Ports.isAnswered(first.smtpPort), (yes) => !yes)
          for (const answer of answers) answer.end()
          assert.isBelow(yield* Fiber.join(stopping), 10)

          const second = yield* installation.running
          const events = (yield* Effect.forEach(inboxes, (inbox) => eventsOf(second, inbox))).flat()
          assert.lengthOf(events, 5)
          for (const { delivery } of events) assert.deepInclude(delivery, { status: "delivered", attempts: 1 })
          assert.lengthOf(yield* receiver.all, 5)
        })
      )
    })
  })

  describe("SIGTERM", () => {
    it.live(
      "stops a process with hanging requests within 30 s, and the next start resumes the returned deliveries",
      () =>
        Effect.gen(function* () {
          const installation = yield* InletProcess.installation
          const settings = { ...installation, WEBHOOK_TIMEOUT: "10m" }
          const receiver = yield* WebhookReceiver.make
          yield* answersOf(receiver)
          const first = yield* InletProcess.start(settings)
          const inboxes = yield* Effect.replicateEffect(first.inbox(receiver.url), 3)
          const [inbox] = inboxes
          assert.isDefined(inbox)
          yield* Effect.forEach(inboxes, ({ address }) =>
            Mail.send(first.smtpPort, { to: address, subject: "given back" })
          )
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
          // At once, without waiting for leases of 10 min.
          const delivered = yield* eventually(
            Effect.map(
              Effect.forEach(inboxes, (one) => eventsOf(second, one)),
              (events) => events.flat()
            ),
            (events) => events.length === 3 && events.every(({ delivery }) => delivery.status === "delivered")
          )
          assert.deepStrictEqual(
            delivered.map(({ delivery, subject }) => ({ attempts: delivery.attempts, subject })),
            Array.from({ length: 3 }, () => ({ attempts: 1, subject: "given back" }))
          )
          assert.lengthOf(yield* receiver.all, 6)
        })
    )
  })
})
