import { Config, ConfigProvider, Option, Schema } from "effect"
import * as Setting from "./Setting.ts"
import { commaSeparated, HttpUrl } from "./SettingText.ts"

const { section, setting } = Setting.section("The process")

export { section }

/** The value of `NODE_ENV`. Refuses others, so that `prod` does not mean development. */
export const mode = setting(
  "NODE_ENV",
  Schema.Literals(["development", "test", "production"]).annotate({
    message: "Expected development, test or production"
  }),
  "development",
  "`development`, `test` or `production`. Production requires https webhooks, a PostgreSQL server and explicit secrets"
)

/** Whether `NODE_ENV` is `production`. */
export const production = Config.map(mode, (name) => name === "production")

export const inProduction = <A, B>(there: Config.Config<A>, elsewhere: Config.Config<B>): Config.Config<A | B> =>
  Config.flatMap(production, (yes): Config.Config<A | B> => (yes ? there : elsewhere))

/** The settings that production requires, with their errors. */
const demands = new Map<string, string>()

const refused = (...lines: ReadonlyArray<string>) =>
  Config.fail(new ConfigProvider.SourceError({ message: lines.join("\n") }))

/** Fails with all missing production settings, one a line. */
export const complete = (names: ReadonlyArray<string>) =>
  Config.flatMap(production, (yes) =>
    Config.flatMap(
      Config.all(
        names.flatMap((name) => {
          const line = yes ? demands.get(name) : undefined
          if (line === undefined) return []
          return [Config.map(Config.option(Config.String(name)), (value) => (Option.isNone(value) ? [line] : []))]
        })
      ),
      (lines) => (lines.flat().length === 0 ? Config.succeed(undefined) : refused(...lines.flat()))
    )
  )

/** Rejects the public values of the trial files in production. */
export const ownInProduction = <A>(given: Config.Config<A>, isTrial: (value: A) => boolean, line: string) =>
  Config.flatMap(given, (value) =>
    isTrial(value) ? inProduction(refused(line), Config.succeed(value)) : Config.succeed(value)
  )

/** Production refuses to start without it. */
export const required = <B>(name: string, wanted: string, elsewhere: Config.Config<B>): Config.Config<B> => {
  const line = `${name}: Missing, and production needs it: ${wanted}`
  demands.set(name, line)
  return inProduction(refused(line), elsewhere)
}

export const anywhere = inProduction(Config.succeed("0.0.0.0"), Config.succeed("127.0.0.1"))

export const roles = setting(
  "ROLES",
  commaSeparated(
    Schema.Literals(["http", "smtp", "worker"]).annotate({
      message: "Expected some of http, smtp and worker, separated by commas"
    })
  ).check(Schema.isMinLength(1, { message: "Expected some of http, smtp and worker, separated by commas" })),
  ["http", "smtp", "worker"] as const,
  "roles of this process",
  "`http,smtp,worker`"
)

const logLevel = setting(
  "LOG_LEVEL",
  Schema.Literals(["trace", "debug", "info", "warn", "error"]),
  "info",
  "lowest level to log"
)

const logFormat = setting(
  "LOG_FORMAT",
  Schema.Literals(["pretty", "json"]),
  inProduction(Config.succeed("json"), Config.succeed("pretty")),
  "`pretty` for people, `json` for machines",
  "`pretty` (`json` in production)"
)

const otlpEndpoint = setting(
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  HttpUrl,
  undefined,
  "base URL of an OTLP/HTTP collector for traces, metrics and logs"
)

export const telemetry = Config.all({ logLevel, logFormat, otlpEndpoint })
