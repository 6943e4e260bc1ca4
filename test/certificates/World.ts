import { ConfigProvider, Duration, Effect, Layer, Logger, References } from "effect"
import { Dns } from "effect/net"
import { SqlClient } from "effect/sql"
import * as ChallengeAnswers from "../../src/certificates/ChallengeAnswers.ts"
import * as CurrentCertificate from "../../src/certificates/CurrentCertificate.ts"
import * as HostProof from "../../src/certificates/HostProof.ts"
import * as Ordering from "../../src/certificates/Ordering.ts"
import * as AcmeAuthority from "../../src/providers/authority/AcmeAuthority.ts"
import { Registrars } from "../../src/providers/registrar/Registrars.ts"
import { SecretsKey } from "../../src/workspaces/SecretsKey.ts"
import { Acme } from "../simulators/Acme.ts"
import * as TestDatabase from "../TestDatabase.ts"

export const host = "mx.inlet.test"

/** The lines that the service logged. */
export const logged: Array<string> = []

const log = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])

const waits = {
  memory: Duration.zero,
  look: Duration.millis(10),
  longest: Duration.millis(200),
  spread: Duration.zero
}

/** One process of the service, with the seams that an order needs. */
export const order = (options: { readonly challenge?: "http" | "dns"; readonly patience?: number } = {}) =>
  Effect.gen(function* () {
    const { directory } = yield* Acme
    const { challenge = "http", patience = 30_000 } = options
    const authority = AcmeAuthority.layer({
      directory,
      challenge,
      email: "operator@inlet.test",
      caFile: undefined,
      interval: "10 millis",
      mostInterval: "1 second",
      patience
    })
    return yield* Effect.flatten(Ordering.make({ host, directory }, challenge)).pipe(Effect.provide(authority))
  })

/** The answer for a token, as any process with the API finds it. */
export const answered = Effect.fnUntraced(
  function* (token: string) {
    const answers = yield* ChallengeAnswers.ChallengeAnswers
    return (yield* answers.find(token)) ?? "nothing"
  },
  Effect.provide(ChallengeAnswers.ChallengeAnswers.layer, { local: true })
)

/** The certificate in use, as the mail server of any process reads it. */
export const current = Effect.gen(function* () {
  const { directory } = yield* Acme
  const settings = { ACME_DIRECTORY: directory, ACME_TERMS_AGREED: "true", MX_HOST: host, SECRETS_KEY: secretsKey }
  return yield* CurrentCertificate.CurrentCertificate.pipe(
    Effect.flatMap((read) => read ?? Effect.die("There is a directory")),
    Effect.provide(CurrentCertificate.layer, { local: true }),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: settings })))
  )
})

/** Lets time pass for the database: moves everything in it to the past, or to the future. */
export const pass = Effect.fnUntraced(function* (hours: number) {
  const sql = yield* SqlClient.SqlClient
  const columns = ["not_before", "not_after", "renew_at", "attempted_at", "ordered_at", "leased_until"]
  for (const column of columns) {
    yield* sql`UPDATE certificates SET ${sql(column)} = ${sql(column)} - make_interval(secs => ${hours * 3_600})`
  }
})

export interface Row {
  readonly failures: number
  readonly problem: string | null
  readonly pauseSeconds: number
  readonly chain: string | null
  readonly key: Uint8Array | null
  readonly accountKey: Uint8Array | null
  readonly orderUrl: string | null
  readonly lease: string | null
}

/** The row of the host. */
export const row = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<Row>`SELECT * FROM certificates WHERE host = ${host}`
  return yield* Effect.fromNullishOr(found)
})

const secretsKey = Buffer.alloc(32, 7).toString("base64")

/** Makes the authority find the answers in the database. */
export const lookHere = Effect.gen(function* () {
  const acme = yield* Acme
  const services = yield* Effect.context<SqlClient.SqlClient>()
  yield* acme.looks(({ token }) => Effect.orDie(Effect.provide(answered(token), services)))
})

/** An authority that reads the answers in the database, a database, and no registrar. */
export const layer = (
  seams: { readonly registrars?: Layer.Layer<Registrars>; readonly dns?: Layer.Layer<Dns.Dns> } = {}
) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      logged.length = 0
      return lookHere
    })
  ).pipe(
    Layer.provideMerge(
      SecretsKey.layer.pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SECRETS_KEY: secretsKey } })))
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        Acme.layer,
        seams.registrars ?? Layer.succeed(Registrars, new Map()),
        seams.dns ?? Layer.succeed(Dns.Dns, Dns.make({ lookup: () => Effect.succeed([]) })),
        Layer.succeed(HostProof.Waits, waits)
      )
    ),
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(log),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Trace"))
  )
