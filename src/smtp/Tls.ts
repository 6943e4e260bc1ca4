import { createSecureContext } from "node:tls"
import { Effect, FileSystem, Schema } from "effect"
import { generate } from "selfsigned"
import * as Settings from "../Settings.ts"

/** The certificate can't be used; the message names the setting. */
export class TlsUnusable extends Schema.TaggedError<TlsUnusable>()("TlsUnusable", { message: Schema.String }) {}

/**
 * Key and certificate chain for STARTTLS. Senders encrypt opportunistically and
 * rarely check the name (RFC 7435), so one made at start is better than none.
 */
export const keyPair = Effect.gen(function* () {
  const { mxHost, tlsCertificate, tlsKey } = yield* Settings.smtp
  if (tlsCertificate === undefined && tlsKey === undefined) {
    const made = yield* Effect.promise(() =>
      generate([{ name: "commonName", value: mxHost }], { keyType: "ec", algorithm: "sha256" })
    )
    return { key: made.private, cert: made.cert }
  }
  const read = Effect.fnUntraced(function* (setting: string, file: string | undefined) {
    if (file === undefined) {
      return yield* new TlsUnusable({ message: `${setting}: Missing; SMTP_TLS_CERT and SMTP_TLS_KEY go together` })
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
  const pair = { key: yield* read("SMTP_TLS_KEY", tlsKey), cert: yield* read("SMTP_TLS_CERT", tlsCertificate) }
  yield* Effect.try({
    try: () => createSecureContext(pair),
    catch: (cause) =>
      new TlsUnusable({
        message: `SMTP_TLS_CERT, SMTP_TLS_KEY: Expected a PEM certificate and its PEM key (${cause instanceof Error ? cause.message : cause})`
      })
  })
  return pair
})
