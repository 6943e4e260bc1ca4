import { Context, type Duration, Effect, Layer, Metric } from "effect"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import type * as CertificateRows from "./CertificateRows.ts"
import * as CertificateState from "./CertificateState.ts"
import * as Ordering from "./Ordering.ts"

const failures = Metric.gauge("inlet_certificate_order_failures", {
  description: "Failed attempts to order the certificate of the mail server since the last one"
})

/** How often a process looks whether a certificate is due. Tests shorten it. */
export const Interval = Context.Reference<Duration.Input>("inlet/certificates/CertificateWorker/Interval", {
  defaultValue: () => "30 seconds"
})

const layerOf = (place: CertificateRows.Place, challenge: "http" | "dns") =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const order = yield* Ordering.make(place, challenge)
      const state = yield* CertificateState.make
      const measure = Effect.flatMap(state, (now) => Metric.update(failures, now?.failures ?? 0))

      yield* BackgroundLoop.every(
        yield* Interval,
        "Ordering the certificate of the mail server failed. Inlet tries again",
        Effect.andThen(order, measure)
      )
    })
  ).pipe(Layer.provide(SecretsKey.layer))

/** Orders and renews the certificate of the mail server while the process runs. Nothing without `ACME_DIRECTORY`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings.certificates
    return settings === undefined
      ? Layer.empty
      : layerOf({ host: settings.mxHost, directory: settings.directory }, settings.challenge)
  })
)
