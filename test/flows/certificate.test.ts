import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { createTransport } from "nodemailer"
import * as CertificateWorker from "../../src/certificates/CertificateWorker.ts"
import * as HostProof from "../../src/certificates/HostProof.ts"
import * as Tls from "../../src/smtp/Tls.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as Postfix from "../Postfix.ts"
import { Acme, overHttp } from "../simulators/Acme.ts"
import { confirmed, session } from "../smtp/ConfirmedTls.ts"
import { TestInlet } from "../TestInlet.ts"

const token = "the-operators-token"

const waits = { memory: Duration.millis(1_100), look: Duration.zero, longest: Duration.zero, spread: Duration.zero }

/** The service with a certificate authority that does not reach it yet. */
const World = Layer.unwrap(
  Effect.gen(function* () {
    const { directory } = yield* Acme
    return TestInlet.layer({ ACME_DIRECTORY: directory, ACME_TERMS_AGREED: "true", ADMIN_TOKEN: token })
  })
).pipe(
  Layer.provide([
    Layer.succeed(CertificateWorker.Interval, "50 millis"),
    Layer.succeed(Tls.CertificateLooks, { milliseconds: 20 }),
    Layer.succeed(HostProof.Waits, waits)
  ]),
  Layer.provideMerge(Acme.layer)
)

const state = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("GET", "/admin/status", { key: token })
  return json.certificate
})

/** Lets the next order begin now. */
const hasten = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE certificates SET pause_seconds = 0, renew_at = now() WHERE lease IS NULL`
})

/** Lets the authority reach the API, and waits until the mail server presents a certificate. Returns its serial number. */
const issued = Effect.gen(function* () {
  const acme = yield* Acme
  const inlet = yield* TestInlet
  yield* acme.looks(overHttp(inlet.url))
  yield* eventually(Effect.andThen(hasten, state), ({ not_after }) => not_after !== null)
  return yield* eventually(confirmed(inlet.smtpPort, acme.root), (serial) => serial !== "unconfirmed")
})

layer(World, { excludeTestServices: true })("A service with ACME_DIRECTORY", (it) => {
  it.effect("starts without a certificate, takes mail, and says what is missing", () =>
    Effect.gen(function* () {
      const { root } = yield* Acme
      const inlet = yield* TestInlet
      const { problem } = yield* eventually(state, ({ failures }) => failures > 0)
      assert.include(problem, "Connection refused. Port 80 of mx.inlet.test is not reached")
      assert.strictEqual(yield* confirmed(inlet.smtpPort, root), "unconfirmed")
      assert.strictEqual((yield* inlet.call("GET", "/ready")).status, 200)
      const inbox = yield* inlet.inbox()
      assert.match(yield* inlet.send({ to: inbox.address }), /^250 /)
      const metrics = yield* inlet.call("GET", "/metrics")
      assert.match(metrics.text, /^inlet_certificate_order_failures \d/m)
    })
  )

  it.effect("gets one as soon as the authority reaches the API, and presents it without a restart", () =>
    Effect.gen(function* () {
      const acme = yield* Acme
      const inlet = yield* TestInlet
      const first = yield* issued
      assert.deepInclude(yield* state, { host: "mx.inlet.test", failures: 0, problem: null })
      const metrics = yield* inlet.call("GET", "/metrics")
      assert.match(metrics.text, /^inlet_certificate_not_after_seconds 1\d{9}/m)

      // A session goes on, and the next one gets the renewed certificate.
      const early = yield* session(inlet.smtpPort, acme.root)
      yield* hasten
      yield* eventually(confirmed(inlet.smtpPort, acme.root), (serial) => serial !== "unconfirmed" && serial !== first)
      const reply = Effect.callback<string>(
        (resume) => void early.once("data", (data) => resume(Effect.succeed(`${data}`)))
      )
      early.write("EHLO client.example\r\n")
      assert.match(yield* reply, /^250/)
    }).pipe(Effect.scoped)
  )

  it.effect("answers unknown tokens with 404, and no path below", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of ["unknown", "a%2Fb", "x".repeat(129), "..%2F..%2Fetc", "a/b", ""]) {
        const { status } = yield* inlet.call("GET", `/.well-known/acme-challenge/${path}`)
        assert.strictEqual(status, 404, path)
      }
    })
  )

  it.effect(
    "has a certificate that a Postfix with smtp_tls_security_level=verify accepts",
    () =>
      Effect.gen(function* () {
        yield* Needs.demand(Needs.postfix)
        const { root } = yield* Acme
        const inlet = yield* TestInlet
        yield* issued
        const inbox = yield* inlet.inbox()
        const port = yield* Postfix.relay(
          inlet.smtpPort,
          { [inbox.address]: "verify" },
          { name: "mx.inlet.test", root }
        )
        const send = Effect.acquireUseRelease(
          Effect.sync(() => createTransport({ host: "127.0.0.1", port, ignoreTLS: true })),
          (transport) =>
            Effect.promise(() =>
              transport.sendMail({ from: "a@sender.example", to: inbox.address, subject: "verified", text: "hello" })
            ),
          (transport) => Effect.sync(() => transport.close())
        )
        yield* send
        const [event] = yield* eventually(Mailbox.accepted(inbox), (events) => events.length > 0)
        assert.strictEqual(event.subject, "verified")
      }).pipe(Effect.scoped),
    Needs.options(Needs.postfix)
  )
})
