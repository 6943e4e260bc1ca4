import { Config, ConfigProvider, Effect, Record } from "effect"
import * as Issue from "effect/SchemaIssue"
import * as Api from "./settings/ApiSettings.ts"
import * as Certificate from "./settings/CertificateSettings.ts"
import * as Delivery from "./settings/DeliverySettings.ts"
import * as Limit from "./settings/LimitSettings.ts"
import * as Mail from "./settings/MailSettings.ts"
import * as Process from "./settings/ProcessSettings.ts"
import * as Purchase from "./settings/PurchaseSettings.ts"
import * as Storage from "./settings/StorageSettings.ts"

// Each setting is declared once, in its section. These are the groups that the service reads.
export const { mode, production, roles, telemetry } = Process
export const { answers, http, httpPort } = Api
export const { defaultSmtpPort, dns, platform, reading, scanner, scanning, smtp, smtpNearby, smtpPort } = Mail
export const { certificates } = Certificate
export const { bucket, database, rawStore, secrets } = Storage
export const { egress, webhooks } = Delivery
export const { actions, clients, limits, loops } = Limit
export const { namecheap, openprovider, purchase, stripe } = Purchase

/** The sections in the order of docs/settings.md. */
export const sections = [Process, Api, Mail, Certificate, Storage, Delivery, Limit, Purchase].map(
  ({ section }) => section
)

/** Every setting of the service, in that order. */
export const documented = sections.flatMap(({ settings }) => settings)

const groups: Record.ReadonlyRecord<string, Config.Config<unknown>> = {
  roles,
  http,
  answers,
  smtp,
  certificates,
  database,
  rawStore,
  bucket,
  platform,
  dns,
  secrets,
  webhooks,
  egress,
  limits,
  loops,
  reading,
  scanner,
  scanning,
  purchase,
  stripe,
  namecheap,
  openprovider,
  clients,
  actions,
  telemetry
}

/** Reads every setting for any roles, first alone and then with others. Fails with a line for each problem. */
export const all: Effect.Effect<void, Config.ConfigError> = Effect.gen(function* () {
  const alone = documented.map(({ config }) => config)
  const [, wrong] = yield* Effect.partition([Process.complete, ...alone, ...Record.values(groups)], (config) => config)
  if (wrong.length === 0) return
  // A wrong setting shows in each that depends on it.
  const lines = new Set(wrong.flatMap((error) => explain(error).split("\n")))
  return yield* Config.fail(new ConfigProvider.SourceError({ message: [...lines].join("\n") }))
})

const issuesOf = Issue.makeFormatterStandardSchemaV1()

/** One line with the setting's name and the expected form. Never the value, which may be a secret. */
export const explain = ({ cause }: Config.ConfigError): string =>
  cause._tag === "SourceError"
    ? cause.message
    : issuesOf(cause.issue)
        .issues.map(({ message, path = [] }) => {
          const [name] = path
          return name === undefined ? message : `${String(typeof name === "object" ? name.key : name)}: ${message}`
        })
        .join("; ")
