import { Config, ConfigProvider, Option, Schema, Struct } from "effect"
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

/** The settings that production requires, and what each is, in the order of their errors. */
const wanted = {
  SERVICE_PUBLIC_URL: "URL of the API as users see it, such as https://inlet.example.com",
  PLATFORM_DOMAIN: "a domain of yours that instant inboxes are under",
  DATABASE_URL: "postgres://user:password@host:5432/database",
  SECRETS_KEY: "32 bytes in base64 (openssl rand -base64 32), the same for ever"
}

const missing = (name: keyof typeof wanted) => `${name}: Missing, and production needs it: ${wanted[name]}`

const refused = (...lines: ReadonlyArray<string>) =>
  Config.fail(new ConfigProvider.SourceError({ message: lines.join("\n") }))

/** Fails for all missing settings that production requires at once: a line each. */
export const complete = Config.flatMap(
  Config.all(
    Struct.keys(wanted).map((name) =>
      Config.map(Config.option(Config.String(name)), (value) => (Option.isNone(value) ? [missing(name)] : []))
    )
  ),
  (lines) =>
    inProduction(
      lines.flat().length === 0 ? Config.succeed(undefined) : refused(...lines.flat()),
      Config.succeed(undefined)
    )
)

/** Rejects the public values of the trial files in production. */
export const ownInProduction = <A>(given: Config.Config<A>, isTrial: (value: A) => boolean, line: string) =>
  Config.flatMap(given, (value) =>
    isTrial(value) ? inProduction(refused(line), Config.succeed(value)) : Config.succeed(value)
  )

/** Production refuses to start without it. */
export const required = <B>(name: keyof typeof wanted, elsewhere: Config.Config<B>): Config.Config<B> =>
  inProduction(refused(missing(name)), elsewhere)

export const anywhere = inProduction(Config.succeed("0.0.0.0"), Config.succeed("127.0.0.1"))

export const roles = setting(
  "ROLES",
  commaSeparated(
    Schema.Literals(["http", "smtp", "worker"]).annotate({
      message: "Expected some of http, smtp and worker, separated by commas"
    })
  ).check(Schema.isMinLength(1, { message: "Expected some of http, smtp and worker, separated by commas" })),
  ["http", "smtp", "worker"] as const,
  "roles of this process. Split them to scale or restart them separately",
  "`http,smtp,worker`"
)

const logLevel = setting(
  "LOG_LEVEL",
  Schema.Literals(["trace", "debug", "info", "warn", "error"]),
  "info",
  "lowest level to log. `debug` shows each request"
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
