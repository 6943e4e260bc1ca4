import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as CertificateWorker from "../../src/certificates/CertificateWorker.ts"
import * as Tls from "../../src/smtp/Tls.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as Pebble from "../Pebble.ts"
import * as Ports from "../Ports.ts"
import { confirmed } from "../smtp/ConfirmedTls.ts"
import { TestInlet } from "../TestInlet.ts"

const token = "the-operators-token"

/** The root of a foreign authority's certificates. */
class Root extends Context.Service<Root, { readonly pem: string }>()("inlet/test/flows/Root") {}

const World = Layer.unwrap(
  Effect.gen(function* () {
    const dns = yield* DnsServer
    yield* dns.answer("A", "mx.inlet.test", { address: "127.0.0.1" })
    const httpPort = yield* Ports.free
    const { caFile, directory, root } = yield* Pebble.start({ httpPort, nameServer: dns.server })
    return TestInlet.layer({
      HTTP_PORT: `${httpPort}`,
      DNS_SERVERS: dns.server,
      ACME_DIRECTORY: directory,
      ACME_TERMS_AGREED: "true",
      ACME_EMAIL: "operator@inlet.test",
      ACME_CA_FILE: caFile,
      ADMIN_TOKEN: token
    }).pipe(Layer.provideMerge(Layer.succeed(Root, { pem: root })))
  })
).pipe(
  Layer.provide([
    Layer.succeed(CertificateWorker.Interval, "50 millis"),
    Layer.succeed(Tls.CertificateLooks, { milliseconds: 20 })
  ]),
  Layer.provideMerge(DnsServer.layer)
)

layer(World, { excludeTestServices: true })("A service with an authority of Let's Encrypt's developers", (it) => {
  it.effect(
    "orders a certificate for MX_HOST, and the mail server presents it",
    () =>
      Effect.gen(function* () {
        const { pem } = yield* Root
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        // Pebble may look before the API listens. The next order of such a host comes 15 minutes later.
        const hasten = sql`UPDATE certificates SET pause_seconds = 0 WHERE lease IS NULL AND not_after IS NULL`
        const presented = Effect.andThen(hasten, confirmed(inlet.smtpPort, pem))
        const serial = yield* eventually(presented, (serial) => serial !== "unconfirmed")
        assert.match(serial, /^[0-9A-F]+$/)
        const { json } = yield* inlet.call("GET", "/admin/status", { key: token })
        assert.deepInclude(json.certificate, { host: "mx.inlet.test", failures: 0, problem: null })
      }),
    Needs.options(Needs.pebble)
  )
})
