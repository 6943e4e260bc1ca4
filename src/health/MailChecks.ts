import type { DateTime } from "effect"
import type { Domain } from "../model/Domain.ts"
import { type RefusalReason, remedyOf } from "../model/Refusal.ts"
import { error, type HealthCheck, ok, secondOf, warning } from "./HealthCheck.ts"

/** The part of a quota from which it is a warning. */
const almost = 0.9

/** The check of the domain's own state. */
export const state = ({ disabled_reason, domain, id, origin, status }: Domain): HealthCheck => {
  if (status === "disabled") {
    return error(
      "domain",
      `${domain} is disabled, so its mail is refused. The reason: ${disabled_reason ?? "none given"}`,
      "Ask the operator of the service to enable it"
    )
  }
  if (status !== "pending_verification") return ok("domain", `${domain} is verified, so its mail is accepted`)
  return error(
    "domain",
    `${domain} is not verified, so its mail is refused`,
    origin === "purchased"
      ? "Wait: Inlet verifies a purchased domain by itself, within minutes"
      : `Publish the TXT record, then call POST /api/domains/${id}/verify`
  )
}

/** The check that mail can be stored, which has a result only if it cannot. */
export const storage = (canStore: boolean): ReadonlyArray<HealthCheck> =>
  canStore
    ? []
    : [
        error(
          "storage",
          "The service can't store mail now. It answers 451, and senders retry, mostly for days",
          "Wait, or tell the operator of the service, whose log and /ready have the cause"
        )
      ]

/** The check of the messages that the workspace may receive today. `most` is 0 without a limit. */
export const quota = (used: number, most: number): HealthCheck => {
  if (most === 0) return ok("quota", `The workspace has received ${used} messages today, and has no daily limit`)
  const left = Math.max(0, most - used)
  const seen = `The workspace has received ${used} of ${most} messages today, and ${left} are left`
  const remedy = "The limit starts anew at midnight UTC. Ask the operator of the service for a higher one"
  if (left === 0) return error("quota", `${seen}. Further mail is deferred, and senders retry`, remedy)
  return used >= most * almost ? warning("quota", seen, remedy) : ok("quota", seen)
}

/** The check of the last mail. No mail is not a fault. */
export const lastMail = (
  domain: Pick<Domain, "domain">,
  last: { readonly receivedAt: DateTime.Utc; readonly isSimulated: boolean } | null
): HealthCheck =>
  last === null
    ? ok("last_mail", `No mail for ${domain.domain} is stored. Send one to test@${domain.domain} to try it`)
    : ok("last_mail", `The last mail ${last.isSimulated ? "was simulated" : "arrived"} at ${secondOf(last.receivedAt)}`)

/** The check of today's refusals, most frequent reason first. */
export const refusals = (
  domain: Pick<Domain, "id">,
  refused: ReadonlyArray<{ readonly reason: RefusalReason; readonly count: number }>
): HealthCheck => {
  const [first] = refused
  if (first === undefined) return ok("refusals", "No mail was refused today")
  const total = refused.reduce((sum, { count }) => sum + count, 0)
  const reasons = refused.map(({ count, reason }) => `${reason} ${count}`).join(", ")
  return warning(
    "refusals",
    `${total} ${total === 1 ? "recipient or message was" : "recipients or messages were"} refused today: ${reasons}`,
    `${remedyOf(first.reason, domain.id)}. GET /api/domains/${domain.id}/refusals lists them`
  )
}
