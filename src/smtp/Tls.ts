import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Clock, Context, Effect, FileSystem, Metric, Option, Queue, Redacted, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { CurrentCertificate } from "../certificates/CurrentCertificate.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { selfSigned } from "./SelfSigned.ts"

/** The certificate is invalid. The message names the setting. */
export class TlsUnusable extends Schema.TaggedError<TlsUnusable>()("TlsUnusable", { message: Schema.String }) {}

interface KeyPair {
  readonly key: string
  readonly cert: string
}

/** Interval of looking for a new pair. Tests shorten it. */
export const CertificateLooks = Context.Reference("inlet/smtp/CertificateLooks", {
  defaultValue: () => ({ milliseconds: 60_000 })
})

const notAfter = Metric.gauge("inlet_certificate_not_after_seconds", {
  description: "Unix time at which the certificate for STARTTLS ends. None for a self-signed one"
})

/** Where a pair comes from, and the names of its parts in messages. */
interface Source {
  /** None before the first certificate of an authority. */
  readonly read: Effect.Effect<Option.Option<KeyPair>, TlsUnusable | SqlError, FileSystem.FileSystem>
  readonly certificate: string
  readonly key: string
}

/** The files of the settings, or the certificates that Inlet orders. None if it signs its own. */
const source = Effect.gen(function* () {
  const { tlsCertificate, tlsKey } = yield* Settings.smtp
  if (tlsCertificate !== undefined || tlsKey !== undefined) {
    const files: Source = {
      read: Effect.asSome(read(tlsCertificate, tlsKey)),
      certificate: "SMTP_TLS_CERT",
      key: "SMTP_TLS_KEY"
    }
    return Option.some(files)
  }
  const current = yield* CurrentCertificate
  if (current === undefined) return Option.none<Source>()
  const ordered: Source = {
    read: Effect.map(
      current,
      Option.map(({ chain, key }) => ({ cert: chain, key: Redacted.value(key) }))
    ),
    certificate: "ACME_DIRECTORY",
    key: "ACME_DIRECTORY"
  }
  return Option.some(ordered)
})

/**
 * Key and certificate chain for STARTTLS. Senders encrypt opportunistically and rarely check the name (RFC 7435), so
 * a self-signed certificate is better than none.
 */
export const keyPair = Effect.gen(function* () {
  const { mxHost } = yield* Settings.smtp
  const from = yield* source
  if (Option.isSome(from)) {
    const pair = yield* from.value.read
    if (Option.isSome(pair)) {
      yield* check(from.value, pair.value)
      return pair.value
    }
  }
  return selfSigned(mxHost, yield* Clock.currentTimeMillis)
})

/**
 * Emits the pair whenever its files or the ordered certificate change, or the process receives SIGHUP. Logs an invalid pair, and keeps the
 * previous one.
 */
export const renewals = Effect.fnUntraced(function* (first: KeyPair, use: (pair: KeyPair) => void) {
  const found = yield* source
  // Then SIGHUP keeps its default meaning.
  if (Option.isNone(found)) return
  const from = found.value
  const { milliseconds } = yield* CertificateLooks
  const asked = yield* Queue.sliding<true>(1)
  const ask = () => void Queue.offerUnsafe(asked, true)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", ask)),
    () => Effect.sync(() => process.off("SIGHUP", ask))
  )

  let seen = fingerprint(first)
  let complaint = ""
  const look = Effect.gen(function* () {
    const latest = yield* from.read
    if (Option.isNone(latest)) return
    const pair = latest.value
    if (fingerprint(pair) === seen) return
    // A half written pair is checked again at the next interval.
    seen = fingerprint(pair)
    yield* check(from, pair)
    use(pair)
    complaint = ""
    yield* Effect.annotateLogs(Effect.logInfo("The certificate for STARTTLS was renewed"), {
      valid_to: new X509Certificate(pair.cert).validTo
    })
  }).pipe(
    Effect.catchTag("TlsUnusable", ({ message }) => {
      if (message === complaint) return Effect.void
      complaint = message
      return Effect.logError("The new certificate for STARTTLS is invalid. The previous one stays in use", message)
    })
  )
  const signalled = Effect.andThen(
    Queue.take(asked),
    Effect.sync(() => {
      seen = ""
      complaint = ""
    })
  )
  const pause = Effect.timeoutOrElse(signalled, { duration: milliseconds, orElse: () => Effect.void })
  yield* BackgroundLoop.endless("A look at the certificate for STARTTLS failed", Effect.andThen(pause, look))
})

const fingerprint = ({ cert, key }: KeyPair) => `${cert}\n${key}`

const read = Effect.fnUntraced(function* (certificate: string | undefined, key: string | undefined) {
  return {
    key: yield* readFile("SMTP_TLS_KEY", key),
    cert: yield* readFile("SMTP_TLS_CERT", certificate)
  }
})

const readFile = Effect.fnUntraced(function* (setting: string, file: string | undefined) {
  if (file === undefined) {
    return yield* new TlsUnusable({
      message: `${setting}: Missing. SMTP_TLS_CERT and SMTP_TLS_KEY are required together`
    })
  }
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(file).pipe(
    Effect.mapError(
      ({ reason }) =>
        new TlsUnusable({
          message: `${setting}: ${file} ${reason._tag === "NotFound" ? "does not exist" : `can't be read (${reason._tag})`}`
        })
    )
  )
})

/** Checks that both exist and match. An expired certificate is logged and used. */
const check = Effect.fnUntraced(function* (from: Source, pair: KeyPair) {
  // An empty certificate would make every handshake fail.
  const certificate = yield* attempt(
    `${from.certificate}: Expected a PEM certificate`,
    () => new X509Certificate(pair.cert)
  )
  yield* attempt(`${from.key}: Expected a PEM key without a passphrase`, () => createPrivateKey(pair.key))
  yield* attempt(
    `${[...new Set([from.certificate, from.key])].join(", ")}: Expected a PEM certificate and its PEM key`,
    () => createSecureContext(pair)
  )
  const end = certificate.validToDate.getTime()
  yield* Metric.update(notAfter, Math.floor(end / 1_000))
  if (end < (yield* Clock.currentTimeMillis)) {
    yield* Effect.logWarning(`${from.certificate}: The certificate expired on ${certificate.validTo}`)
  }
})

const attempt = <A>(expected: string, make: () => A) =>
  Effect.try({
    try: make,
    catch: (cause) => new TlsUnusable({ message: `${expected} (${cause instanceof Error ? cause.message : cause})` })
  })
