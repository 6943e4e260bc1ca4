import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import * as Settings from "../Settings.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as CertificateKeys from "./CertificateKeys.ts"
import * as CertificateRows from "./CertificateRows.ts"

/** A chain and its private key as PEM. */
export interface Certificate {
  readonly chain: string
  readonly key: Redacted.Redacted
}

/**
 * The certificate that Inlet ordered for its mail server, as the database has it now. None before the first one.
 * Undefined without `ACME_DIRECTORY`.
 */
export const CurrentCertificate = Context.Reference<
  Effect.Effect<Option.Option<Certificate>, SqlError.SqlError> | undefined
>("inlet/certificates/CurrentCertificate", { defaultValue: () => undefined })

const layerOf = (place: CertificateRows.Place) =>
  Layer.effect(
    CurrentCertificate,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* SecretsKey
      const find = CertificateRows.inUse(sql, place)
      return Effect.gen(function* () {
        const found = yield* Bugs.die(find())
        if (Option.isNone(found)) return Option.none<Certificate>()
        const { chain, directory, key } = found.value
        const opened = yield* secrets.open(key, CertificateKeys.ownerOf({ host: place.host, directory }))
        return Option.some({ chain, key: opened })
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings.certificates
    return settings === undefined
      ? Layer.succeed(CurrentCertificate, undefined)
      : layerOf({ host: settings.mxHost, directory: settings.directory })
  })
)
