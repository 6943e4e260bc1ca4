import { X509Certificate } from "node:crypto"
import { Clock, DateTime, Duration, Effect, FileSystem, Layer, Option, Path, Result } from "effect"
import { Dns, Host } from "effect/net"
import { SqlClient } from "effect/sql"
import * as CertificateEnd from "../../certificates/CertificateEnd.ts"
import * as Database from "../../database/Database.ts"
import * as Replication from "../../database/Replication.ts"
import * as Rights from "../../database/Rights.ts"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import * as DurableFolder from "../../files/DurableFolder.ts"
import { MailPort } from "../../health/MailHost.ts"
import * as SmtpProbe from "../../health/SmtpProbe.ts"
import * as Providers from "../../providers/Providers.ts"
import { StartPatience } from "../../providers/storage/RawStoreS3.ts"
import * as Settings from "../../Settings.ts"
import * as Tls from "../../smtp/Tls.ts"
import * as SecretsKey from "../../workspaces/SecretsKey.ts"

/** The result of one check: ok, wrong, or information. */
export interface Finding {
  readonly about: string
  readonly verdict: "good" | "wrong" | "note"
  readonly says: string
}

const good = (about: string, says: string): Finding => ({ about, verdict: "good", says })
const wrong = (about: string, says: string): Finding => ({ about, verdict: "wrong", says })
const note = (about: string, says: string): Finding => ({ about, verdict: "note", says })

/** Timeout of a check. */
const patience = Duration.seconds(10)

/** One server without standbys is normal. Standbys that no commit waits for lack the last mail at a failover. */
const ofStandbys = (server: string, { awaited, standbys }: Replication.Replication) => {
  if (awaited !== "") return good("database", `${server}. Commits wait for a standby (${awaited})`)
  return standbys === 0
    ? good("database", server)
    : note(
        "database",
        `${server}. It has a standby, and no commit waits for it: a failover loses the mail of the last moments. Set synchronous_standby_names (Patroni: synchronous_mode_strict)`
      )
}

/** Whether the database answers, and has the tables of this version. An embedded one belongs to the running service. */
export const database = Effect.gen(function* () {
  const { dataDirectory, url } = yield* Settings.database
  if (url === undefined) {
    const path = yield* Path.Path
    const isMade = yield* Effect.result(
      FileSystem.FileSystem.use((fs) => fs.exists(path.join(dataDirectory, "postgres/PG_VERSION")))
    )
    if (Result.isFailure(isMade)) {
      return wrong(
        "database",
        `DATA_DIR: This user may not read ${dataDirectory} (${ErrorOrigin.messageOf(isMade.failure)}). Run inlet doctor as the user of the service`
      )
    }
    return isMade.success
      ? good("database", `embedded, in ${dataDirectory}; GET /ready of the service says whether it answers`)
      : note("database", `embedded, and not made yet; the first start makes it in ${dataDirectory}`)
  }
  const where = yield* Database.place
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string; readonly isMade: boolean }>`
      SELECT current_setting('server_version') AS version, to_regclass('migrations') IS NOT NULL AS "isMade"
    `
    const server = `PostgreSQL ${row?.version} at ${where}`
    const seen = yield* Replication.look(sql)
    const trouble = Replication.trouble(seen)
    if (trouble !== undefined) return wrong("database", trouble)
    if (row?.isMade !== true) return note("database", `${server}, still empty; the first start makes its tables`)
    const lacking = yield* Rights.troubleAnywhere(sql)
    if (lacking !== undefined) return wrong("database", lacking)
    yield* Database.refuseOthers
    yield* SecretsKey.check
    return ofStandbys(server, seen)
  }).pipe(
    Effect.provide(Database.layerPostgres(url)),
    Effect.timeout(patience),
    Effect.catchTags({
      MigrationError: ({ message }) =>
        Effect.succeed(wrong("database", `The database at ${where} can't be migrated: ${message}`)),
      SqlError: (error) => Effect.succeed(wrong("database", Database.explain(where, error))),
      WrongSecretsKey: ({ message }) => Effect.succeed(wrong("database", message)),
      SecretUnusable: ({ message }) => Effect.succeed(wrong("database", message)),
      PlatformError: ({ message }) => Effect.succeed(wrong("database", message)),
      TimeoutError: () =>
        Effect.succeed(wrong("database", `${where} does not answer within ${Duration.format(patience)}`))
    })
  )
})

/** Checks that raw messages can be stored: the folder can be written and synced, or the bucket takes an object. */
export const rawStore = Effect.gen(function* () {
  const { folder, kind } = yield* Settings.rawStore
  if (kind === "s3") {
    const { endpoint, name } = yield* Settings.bucket
    return yield* Effect.scoped(Layer.build(Providers.rawStore)).pipe(
      Effect.provideService(StartPatience, Duration.zero),
      Effect.as(good("raw store", `bucket ${name} at ${endpoint}`)),
      Effect.timeout(patience),
      Effect.catch((error) => Effect.succeed(wrong("raw store", ErrorOrigin.messageOf(error))))
    )
  }
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.gen(function* () {
    yield* DurableFolder.make(folder)
    const probe = path.join(folder, `doctor-${yield* Clock.currentTimeMillis}`)
    yield* fs.writeFileString(probe, "doctor")
    yield* DurableFolder.sync(probe).pipe(Effect.ensuring(Effect.ignore(fs.remove(probe))))
    return good("raw store", `${folder} can be written`)
  }).pipe(Effect.catch((error) => Effect.succeed(wrong("raw store", `RAW_DIR: ${ErrorOrigin.messageOf(error)}`))))
})

/** Failures that say nothing about the records. */
const noAnswers: ReadonlySet<Dns.DnsErrorReason> = new Set(["Timeout", "Temporary", "Refused", "ServerFailure"])

/** Checks the DNS records that mail needs: address of the mail server, wildcard of instant inboxes. */
export const names = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const { domain, mxHost } = yield* Settings.platform
  const anyInbox = `doctor.inbox.${domain}`
  const asked = <A>(question: Effect.Effect<A, Dns.DnsError>) => Effect.result(question)

  const addresses = yield* asked(dns.lookup(Host.domainNameFromStringUnsafe(mxHost)))
  const mx = yield* asked(dns.resolve(Host.domainNameFromStringUnsafe(anyInbox), "MX"))
  const spf = yield* asked(dns.resolve(Host.domainNameFromStringUnsafe(anyInbox), "TXT"))
  const targets = Result.isSuccess(mx)
    ? mx.success.map(({ exchange }) => exchange.replace(/\.$/, "").toLowerCase())
    : []
  const isSilent = Result.isSuccess(spf) && spf.success.some(({ chunks }) => /^v=spf1 .*-all$/.test(chunks.join("")))
  const failures = [Result.getFailure(addresses), Result.getFailure(mx)].flatMap(Option.toArray)
  const silent = failures.find(({ reason }) => noAnswers.has(reason))
  if (silent !== undefined) {
    return [
      wrong(
        "DNS",
        `The name servers do not answer (${silent.reason}), so nothing is known of the records. Correct DNS_SERVERS, or ask again later`
      )
    ]
  }
  return [
    Result.isSuccess(addresses)
      ? good("DNS", `${mxHost} is ${addresses.success.map(String).join(", ")}`)
      : wrong("DNS", `${mxHost} (MX_HOST) has no address: ${addresses.failure.reason}. Publish an A record`),
    targets.includes(mxHost)
      ? good("MX", `${anyInbox} goes to ${targets.join(", ")}`)
      : wrong(
          "MX",
          `*.inbox.${domain} ${targets.length === 0 ? "has no MX record" : `goes to ${targets.join(", ")}`}. Publish: *.inbox.${domain} MX 10 ${mxHost}`
        ),
    isSilent
      ? good("TXT", `${anyInbox} says that it sends no mail`)
      : note("TXT", `Nothing says that *.inbox.${domain} sends no mail. Publish: *.inbox.${domain} TXT "v=spf1 -all"`)
  ]
})

/** Checks that the mail server answers at its public name. A provider's firewall is not visible from this machine. */
export const port25 = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const port = yield* MailPort
  const { mxHost } = yield* Settings.platform
  const found = yield* Effect.result(dns.lookup(Host.domainNameFromStringUnsafe(mxHost)))
  const [address] = Result.isSuccess(found) ? found.success : []
  if (address === undefined) return note(`port ${port}`, "not looked at: MX_HOST has no address")
  const said = yield* Effect.result(SmtpProbe.talk({ address: String(address), host: mxHost, patience, port }))
  const beyond = "From another network: nc -v"
  if (Result.isFailure(said)) {
    const { isUnreached, message } = said.failure
    return isUnreached
      ? note(
          `port ${port}`,
          `This machine cannot reach ${mxHost} (${address}): ${message}. Many clouds block outgoing connections to port 25, and some networks do not let a machine reach its own public address, so senders may reach it. ${beyond} ${mxHost} ${port}`
        )
      : wrong(
          `port ${port}`,
          `${mxHost} (${address}) does not answer: ${message}. Start the service, and have your provider open the port. ${beyond} ${mxHost} ${port}`
        )
  }
  const { greeting } = said.success
  return /^220[ -]/.test(greeting)
    ? good(`port ${port}`, `${mxHost} (${address}) answers from this machine. ${beyond} ${mxHost} ${port}`)
    : wrong(`port ${port}`, `${mxHost} (${address}) is no mail server: it says ${JSON.stringify(greeting)}`)
})

const day = 86_400_000

/** Checks that the STARTTLS certificate is usable and names MX_HOST, and reports how long it is valid. */
export const certificate = Effect.gen(function* () {
  const { mxHost, tlsCertificate } = yield* Settings.smtp
  const ordered = yield* Settings.certificates
  if (ordered !== undefined) {
    const reached =
      ordered.challenge === "http"
        ? `. From another network, http://${mxHost}/.well-known/acme-challenge/doctor must answer "No certificate order waits for this token"`
        : ""
    return note(
      "certificate",
      `ordered from ${new URL(ordered.directory).host}. GET /admin/status says how long it is valid, or what went wrong${reached}`
    )
  }
  if (tlsCertificate === undefined) {
    return note(
      "certificate",
      "self-signed at each start: senders encrypt, but can't check it (SMTP_TLS_CERT, ACME_DIRECTORY)"
    )
  }
  const pair = yield* Effect.result(Tls.keyPair)
  if (Result.isFailure(pair)) return wrong("certificate", ErrorOrigin.messageOf(pair.failure))
  const { checkHost, validFrom, validTo } = described(new X509Certificate(pair.success.cert))
  const now = yield* Clock.currentTimeMillis
  const left = Math.floor((Date.parse(validTo) - now) / day)
  const until = DateTime.formatIso(DateTime.makeUnsafe(Date.parse(validTo))).slice(0, 10)
  if (left < 0) return wrong("certificate", `SMTP_TLS_CERT: it ended on ${until}. Renew it`)
  if (checkHost(mxHost) === undefined) return wrong("certificate", `SMTP_TLS_CERT: it is not for ${mxHost} (MX_HOST)`)
  const age = Math.floor((now - Date.parse(validFrom)) / day)
  const validity = { validFrom: Date.parse(validFrom), validTo: Date.parse(validTo) }
  return left < 14 && CertificateEnd.isLate(validity, now)
    ? note("certificate", `SMTP_TLS_CERT: it ends in ${left} days, on ${until}. Renew it`)
    : good("certificate", `${age} days old, good until ${until}`)
})

const described = (parsed: X509Certificate) => ({
  checkHost: (host: string) => parsed.checkHost(host),
  validFrom: parsed.validFrom,
  validTo: parsed.validTo
})
