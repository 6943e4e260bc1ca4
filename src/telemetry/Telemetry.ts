import { Effect, Layer, Logger, References } from "effect"
import { FetchHttpClient, UrlParams } from "effect/http"
import { Otlp } from "effect/observability"
import * as Settings from "../Settings.ts"
import { version } from "../Version.ts"
import * as LogLine from "./LogLine.ts"

const levels = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** Exports logs, traces and metrics. A slow or missing collector never delays mail. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { logFormat, logLevel, otlpEndpoint } = yield* Settings.telemetry
    const logs = Layer.mergeAll(
      Logger.layer([Logger.withConsoleLog(logFormat === "json" ? LogLine.forMachines : LogLine.forPeople)]),
      Layer.succeed(References.MinimumLogLevel, levels[logLevel]),
      // A URL's query may contain secrets, so traces have none of its values.
      Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])
    )
    if (otlpEndpoint === undefined) return Layer.merge(logs, Layer.succeed(References.TracerEnabled, false))
    const exported = Otlp.layerJson({
      baseUrl: otlpEndpoint,
      resource: { serviceName: "inlet", serviceVersion: version },
      shutdownTimeout: "3 seconds"
    }).pipe(Layer.provide(FetchHttpClient.layer))
    // The exporter adds its logger to the existing ones.
    return Layer.provideMerge(exported, logs)
  })
)
