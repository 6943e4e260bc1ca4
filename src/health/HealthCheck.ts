import { DateTime, Schema } from "effect"
import { DomainName } from "../model/Domain.ts"

/** What a check looks at, as a fixed word. */
export const CheckName = Schema.Literals([
  "domain",
  "txt",
  "mx",
  "mx_host",
  "mx_elsewhere",
  "port25",
  "starttls",
  "certificate",
  "storage",
  "webhook",
  "quota",
  "last_mail",
  "refusals"
])

/** `unknown` means that something did not answer, so the check has no result. */
export const CheckStatus = Schema.Literals(["ok", "warning", "error", "unknown"])
export type CheckStatus = typeof CheckStatus.Type

export const HealthCheck = Schema.Struct({
  check: CheckName.annotate({ description: "what was looked at. `mx_host` comes once for each host" }),
  status: CheckStatus,
  message: Schema.String.annotate({ description: "what was seen, as a sentence" }),
  remedy: Schema.NullOr(Schema.String).annotate({ description: "what to do. Null if the status is ok" })
}).annotate({ identifier: "HealthCheck" })
export type HealthCheck = typeof HealthCheck.Type

/** A host in the MX records of a domain. */
export const MxHost = Schema.Struct({
  host: Schema.String,
  priority: Schema.Int.annotate({ description: "senders try the lowest first" }),
  ours: Schema.Boolean.annotate({ description: "true for the mail host of this service" }),
  addresses: Schema.Array(Schema.String).annotate({ description: "what the host resolves to" })
}).annotate({ identifier: "MxHost" })
export type MxHost = typeof MxHost.Type

export const DomainHealth = Schema.Struct({
  domain: DomainName,
  status: CheckStatus.annotate({ description: "the worst of the checks: error, warning, unknown, ok" }),
  summary: Schema.String.annotate({ description: "the result in one sentence" }),
  checks: Schema.Array(HealthCheck),
  mx_hosts: Schema.Array(MxHost).annotate({ description: "the hosts that were looked up, lowest priority first" }),
  mx_hosts_left_out: Schema.Int.annotate({ description: "further MX records that were not looked up" })
}).annotate({ identifier: "DomainHealth" })
export type DomainHealth = typeof DomainHealth.Type

/** A time in a message, to the second. */
export const secondOf = (time: DateTime.Utc) => DateTime.formatIso(time).replace(/\.\d+Z$/, "Z")

type Name = HealthCheck["check"]

export const ok = (check: Name, message: string): HealthCheck => ({ check, status: "ok", message, remedy: null })

export const warning = (check: Name, message: string, remedy: string): HealthCheck => ({
  check,
  status: "warning",
  message,
  remedy
})

export const error = (check: Name, message: string, remedy: string): HealthCheck => ({
  check,
  status: "error",
  message,
  remedy
})

export const unknown = (check: Name, message: string, remedy: string): HealthCheck => ({
  check,
  status: "unknown",
  message,
  remedy
})

/** From bad to good. */
const order = ["error", "warning", "unknown", "ok"] as const

/** The worst status. */
export const worst = (checks: ReadonlyArray<HealthCheck>): CheckStatus =>
  order.find((status) => checks.some((check) => check.status === status)) ?? "ok"

const opening = (domain: string) => ({
  error: `Mail for ${domain} does not arrive or is not delivered`,
  warning: `Mail for ${domain} works, but something needs attention`,
  unknown: `Some checks of ${domain} have no result`
})

/** The result in one sentence. */
export const summary = (domain: string, checks: ReadonlyArray<HealthCheck>): string => {
  const status = worst(checks)
  if (status === "ok") return `Everything that this service can check is in order for ${domain}`
  const [first, ...others] = checks.filter((check) => check.status === status)
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`
  return `${opening(domain)[status]}: ${first?.message}${more}`
}
