import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { type ReceivedRequest, WebhookReceiver } from "../WebhookReceiver.ts"

/** Enough attempts for the outages of these tests. */
const patient = { WEBHOOK_RETRY_DELAYS: Array.replicate("300ms", 300).join(",") }

type Installation = Effect.Success<typeof InletProcess.installation>

/** Expires the 60 s lease. On the embedded database, a start releases all leases. */
const letLeasesExpire = Effect.fnUntraced(function* ({ DATABASE_URL }: Installation) {
  if (DATABASE_URL === undefined) return
  const context = yield* Layer.build(Database.layerPostgres(Redacted.make(DATABASE_URL)))
  const sql = Context.get(context, SqlClient.SqlClient)
  yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE leased_until > now()`
  yield* sql`UPDATE deliveries SET leased_until = now() WHERE leased_until > now()`
}, Effect.scoped)

const kill = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess) {
  yield* inlet.signal("SIGKILL")
  assert.deepStrictEqual(yield* inlet.ending, { code: null, signal: "SIGKILL" })
})

/** The event ids by the number in the subject: one id, unless the mail became two events. */
const eventsByNumber = (requests: ReadonlyArray<ReceivedRequest>) =>
  Map.groupBy(
    new Map(requests.map(({ event }) => [event.event_id, Number(/\d+/.exec(event.subject)?.[0])])),
    ([, number]) => number
  )

const holds = (all: ReadonlySet<number>, some: ReadonlySet<number>) => [...some].every((number) => all.has(number))

const numbersIn = (requests: ReadonlyArray<ReceivedRequest>) => new Set(eventsByNumber(requests).keys())

/** The accepted mails, and those sent up to the last dot. */
interface Burst {
  readonly begun: Set<number>
  readonly sent: Set<number>
  readonly accepted: Set<number>
}

const message = (number: number) =>
  `Message-ID: <${number}@sender.example>\r\nSubject: mail ${number}\r\n\r\n${"All work and no play.\r\n".repeat(40)}`

/** Sends mails over one session until the server is gone. */
const session = Effect.fnUntraced(function* (port: number, to: string, { accepted, begun, sent }: Burst) {
  const dialog = yield* SmtpDialog.open(port)
  yield* dialog.say("EHLO sender.example")
  for (;;) {
    const number = begun.size + 1
    begun.add(number)
    for (const line of ["MAIL FROM:<a@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
      if (!/^[23]5/.test(yield* dialog.say(line))) return
    }
    sent.add(number)
    const reply = yield* dialog.say(`${message(number)}.`)
    if (!reply.startsWith("250")) return
    accepted.add(number)
  }
}, Effect.scoped)

/** Sends a mail again, as a sender without an answer does. */
const resend = Effect.fnUntraced(function* (port: number, to: string, number: number) {
  const dialog = yield* SmtpDialog.open(port)
  for (const line of ["EHLO sender.example", "MAIL FROM:<a@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
    yield* dialog.say(line)
  }
  assert.match(yield* dialog.say(`${message(number)}.`), /^250/)
}, Effect.scoped)

/** Kills the process during a burst with one more mail half sent. */
const killInBurst = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, to: string) {
  const burst: Burst = { begun: new Set(), sent: new Set(), accepted: new Set() }
  const half = yield* SmtpDialog.open(inlet.smtpPort)
  for (const line of ["EHLO sender.example", "MAIL FROM:<a@sender.example>", `RCPT TO:<${to}>`, "DATA"]) {
    yield* half.say(line)
  }
  yield* half.write("Subject: mail 0\r\n\r\nThis line is not the la")

  const sessions = yield* Effect.forkChild(
    Effect.replicateEffect(session(inlet.smtpPort, to, burst), 8, { concurrency: "unbounded", discard: true })
  )
  yield* eventually(
    Effect.sync(() => burst.accepted.size),
    (count) => count >= 60
  )
  yield* kill(inlet)
  yield* Fiber.join(sessions)
  assert.isAbove(burst.begun.size, burst.accepted.size)
  return burst
})

describe("kill -9", () => {
  it.live("after the 250s loses none of 50 undelivered mails", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways(500)
      const first = yield* InletProcess.start({ ...installation, ...patient })
      const { address, domainId, key } = yield* first.inbox(receiver.url)
      const numbers = Array.range(1, 50)
      yield* Effect.forEach(
        numbers,
        (number) => Mail.send(first.smtpPort, { to: address, subject: `mail ${number}` }),
        { concurrency: 10, discard: true }
      )
      yield* kill(first)
      const refused = (yield* receiver.all).length
      yield* receiver.answerAlways(200)

      const second = yield* InletProcess.start({ ...installation, ...patient })
      yield* letLeasesExpire(installation)
      const { json } = yield* eventually(
        second.call("GET", `/api/domains/${domainId}/events?delivery=delivered&limit=100`, { key }),
        ({ json }) => json.events.length === 50,
        "100 seconds"
      )
      const requests = (yield* receiver.all).slice(refused)
      assert.sameMembers([...numbersIn(requests)], numbers)
      for (const [number, events] of eventsByNumber(yield* receiver.all)) {
        assert.lengthOf(events, 1, `events of mail ${number}`)
      }
      // Mails refused before the kill remain listed beside later ones.
      for (const { delivery, event_id } of json.events) {
        const attempts = yield* second.call(
          "GET",
          `/api/domains/${domainId}/delivery-attempts?limit=100&event_id=${event_id}`,
          { key }
        )
        assert.sameMembers(
          attempts.json.deliveryAttempts.map(({ attempt }: { readonly attempt: number }) => attempt),
          Array.range(1, delivery.attempts)
        )
      }
    })
  )

  it.live("during a burst loses no accepted mail and invents none", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const receiver = yield* WebhookReceiver.make
      const first = yield* InletProcess.start({ ...installation, ...patient })
      const { address } = yield* first.inbox(receiver.url)
      const { accepted, begun, sent } = yield* killInBurst(first, address)

      const second = yield* InletProcess.start({ ...installation, ...patient })
      yield* letLeasesExpire(installation)
      yield* eventually(receiver.all, (requests) => holds(numbersIn(requests), accepted), "100 seconds")
      assert.isTrue(holds(sent, numbersIn(yield* receiver.all)))

      // The sender cannot know whether a mail without an answer was stored.
      const unanswered = [...begun].filter((number) => !accepted.has(number))
      yield* Effect.forEach(unanswered, (number) => resend(second.smtpPort, address, number))
      const requests = yield* eventually(receiver.all, (requests) => holds(numbersIn(requests), begun))
      for (const [number, events] of eventsByNumber(requests)) {
        assert.lengthOf(events, 1, `events of mail ${number}`)
      }
    })
  )

  const hasServer = Effect.runSync(Effect.orDie(InletProcess.hasServer))

  // Only a server survives one of its processes.
  if (hasServer) {
    it.live("of one process leaves its work to the others", () =>
      Effect.gen(function* () {
        const installation = yield* InletProcess.installation
        const others = yield* InletProcess.installation
        const settings = {
          ...installation,
          ...patient,
          RAW_DIR: `${installation.DATA_DIR}/raw`,
          SECRETS_KEY: Buffer.alloc(32, 5).toString("base64")
        }
        const receiver = yield* WebhookReceiver.make
        yield* InletProcess.start({ ...settings, DATA_DIR: others.DATA_DIR })
        const doomed = yield* InletProcess.start(settings)
        const { address } = yield* doomed.inbox(receiver.url)
        const { accepted, sent } = yield* killInBurst(doomed, address)

        yield* letLeasesExpire(installation)
        yield* eventually(receiver.all, (requests) => holds(numbersIn(requests), accepted))
        const requests = yield* receiver.all
        assert.isTrue(holds(sent, numbersIn(requests)))
        for (const [number, events] of eventsByNumber(requests)) {
          assert.lengthOf(events, 1, `events of mail ${number}`)
        }
      })
    )
  }
})
