import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Clock, Context, Effect, FileSystem, Queue, Schema } from "effect"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { selfSigned } from "./SelfSigned.ts"

/** The certificate is invalid. The message names the setting. */
export class TlsUnusable extends Schema.TaggedError<TlsUnusable>()("TlsUnusable", { message: Schema.String }) {}

interface KeyPair {
  readonly key: string
  readonly cert: string
}

/** Interval of checking the files. Tests shorten it. */
export const CertificateLooks = Context.Reference("inlet/smtp/CertificateLooks", {
  defaultValue: () => ({ milliseconds: 60_000 })
})

/**
 * Key and certificate chain for STARTTLS. Senders encrypt opportunistically and rarely check the name (RFC 7435), so
 * a self-signed certificate is better than none.
 */
export const keyPair = Effect.gen(function* () {
  const { mxHost, tlsCertificate, tlsKey } = yield* Settings.smtp
  if (tlsCertificate === undefined && tlsKey === undefined) {
    return selfSigned(mxHost, yield* Clock.currentTimeMillis)
  }
  const pair = yield* read(tlsCertificate, tlsKey)
  yield* check(pair)
  return pair
})

/**
 * Emits the pair whenever its files change or the process receives SIGHUP. Logs an invalid pair, and keeps the
 * previous one.
 */
export const renewals = Effect.fnUntraced(function* (first: KeyPair, use: (pair: KeyPair) => void) {
  const { tlsCertificate, tlsKey } = yield* Settings.smtp
  // Without files SIGHUP keeps its default meaning.
  if (tlsCertificate === undefined) return
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
    const pair = yield* read(tlsCertificate, tlsKey)
    if (fingerprint(pair) === seen) return
    // A half written pair is checked again at the next interval.
    seen = fingerprint(pair)
    yield* check(pair)
    use(pair)
    complaint = ""
    yield* Effect.logInfo("The certificate for STARTTLS was renewed", {
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
const check = Effect.fnUntraced(function* (pair: KeyPair) {
  // An empty certificate would make every handshake fail.
  const certificate = yield* attempt("SMTP_TLS_CERT: Expected a PEM certificate", () => new X509Certificate(pair.cert))
  yield* attempt("SMTP_TLS_KEY: Expected a PEM key without a passphrase", () => createPrivateKey(pair.key))
  yield* attempt("SMTP_TLS_CERT, SMTP_TLS_KEY: Expected a PEM certificate and its PEM key", () =>
    createSecureContext(pair)
  )
  if (certificate.validToDate.getTime() < (yield* Clock.currentTimeMillis)) {
    yield* Effect.logWarning(`SMTP_TLS_CERT: The certificate expired on ${certificate.validTo}`)
  }
})

const attempt = <A>(expected: string, make: () => A) =>
  Effect.try({
    try: make,
    catch: (cause) => new TlsUnusable({ message: `${expected} (${cause instanceof Error ? cause.message : cause})` })
  })
