import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:net"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect } from "effect"
import * as Checks from "../../src/cli/commands/Checks.ts"
import * as Platform from "../../src/process/Platform.ts"
import { certificate, selfSigned } from "../../src/smtp/SelfSigned.ts"
import * as CommandLine from "../CommandLine.ts"
import * as Ports from "../Ports.ts"

const day = 86_400_000

/** A server that agrees to TLS, as PostgreSQL does, and shows this certificate. Returns its host and port. */
const server = Effect.fnUntraced(function* (pair: { readonly key: string; readonly cert: string }) {
  const port = yield* Ports.free
  const listener = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      socket.write("S")
      new TLSSocket(socket, { isServer: true, ...pair }).on("error", () => {})
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void listener.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.callback<void>((resume) => void listener.close(() => resume(Effect.void)))
  )
  return `localhost:${port}`
})

/** Node trusts this certificate meanwhile, as with NODE_EXTRA_CA_CERTS. */
const trust = (cert: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )

/** The line of a refused start and the finding of the doctor, with `<host>` for the server. */
const lines = Effect.fnUntraced(function* (host: string) {
  const DATABASE_URL = `postgres://inlet:sentinel@${host}/inlet?sslmode=require`
  const { stderr } = yield* Effect.timeout(
    CommandLine.run(["start"], { DATABASE_URL, HTTP_PORT: "0", SMTP_PORT: "0", LOG_LEVEL: "error" }),
    "10 seconds"
  )
  const { says } = yield* Checks.database.pipe(
    Effect.provide(Platform.layer),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { DATABASE_URL } }))
  )
  // Some versions of Node add a hint.
  return [stderr, says].map((line) => line.replaceAll(host, "<host>").replace(/; if the root CA [^)]*/, ""))
})

const both = (says: string) => [`Inlet can't start: DATABASE_URL: ${says}\n`, says]

describe("A database whose certificate Node rejects is refused at once, by the start and the doctor", () => {
  it.live("if Node does not know its CA", () =>
    Effect.gen(function* () {
      const host = yield* server(selfSigned("localhost", yield* Clock.currentTimeMillis))
      assert.deepStrictEqual(
        yield* lines(host),
        both(
          "The certificate of the database at <host> is not signed by a CA that Node knows (self-signed certificate). Set NODE_EXTRA_CA_CERTS to the file of its CA, in the environment of the process"
        )
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("if it is for another host", () =>
    Effect.gen(function* () {
      const pair = selfSigned("db.example.com", yield* Clock.currentTimeMillis)
      yield* trust(pair.cert)
      assert.deepStrictEqual(
        yield* lines(yield* server(pair)),
        both(
          "The certificate of the database at <host> is for another host (Hostname/IP does not match certificate's altnames: Host: localhost. is not in the cert's altnames: DNS:db.example.com). Name the host as its certificate does"
        )
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("if it has expired", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
      const cert = certificate(privateKey, "localhost", now - 2 * day, now - day)
      yield* trust(cert)
      const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      assert.deepStrictEqual(
        yield* lines(yield* server({ cert, key })),
        both(
          "The certificate of the database at <host> has expired (certificate has expired). Renew it, or correct the clock of this machine"
        )
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
