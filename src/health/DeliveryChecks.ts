import { DateTime } from "effect"
import type { Failing, Health } from "../delivery/WebhookHealth.ts"
import type { Domain } from "../model/Domain.ts"
import { error, type HealthCheck, ok, warning } from "./HealthCheck.ts"

const at = (time: DateTime.Utc) => DateTime.formatIso(time).replace(/\.\d+Z$/, "Z")

const events = (count: number, does: string, doAll: string) =>
  count === 1 ? `1 event ${does}` : `${count.toLocaleString("en")} events ${doAll}`

/** The check of where events go. */
export const webhook = (
  domain: Pick<Domain, "id" | "pull" | "webhookUrl">,
  {
    failing,
    health,
    lastStatus
  }: {
    readonly health: Health
    readonly failing: Failing | null
    /** The status of the last answer. */
    readonly lastStatus: number | null
  }
): HealthCheck => {
  const { dead, held, last_error, last_success_at, paused_at, pending } = health
  const route = `/api/domains/${domain.id}`
  if (domain.pull) {
    return ok("webhook", `Mail waits until a client fetches it (pull). ${events(pending, "waits", "wait")} now`)
  }
  if (domain.webhookUrl === null) {
    return warning(
      "webhook",
      `No webhook is set, so Inlet holds mail. ${events(held, "is held", "are held")}`,
      `Set a webhook with PATCH ${route}/delivery {"webhookUrl": "https://…"}. Held events follow after inlet replay --held. Without a webhook, events can still be listed`
    )
  }
  // The path of the URL may contain a token.
  const where = new URL(domain.webhookUrl).host
  if (failing !== null) {
    const why = last_error === null ? "" : `. The last error: ${last_error}`
    const next = failing.next_attempt_at === null ? "" : `, and the next attempt is at ${at(failing.next_attempt_at)}`
    const since = `Every request to the webhook at ${where} has failed since ${at(failing.since)}${why}`
    const waiting = `${events(failing.waiting, "waits", "wait")}${next}`
    const isRedirect = lastStatus !== null && lastStatus >= 300 && lastStatus < 400
    const repair = isRedirect
      ? "Set the URL that the redirect leads to, because Inlet follows no redirects"
      : `Repair the webhook, then test it with POST ${route}/webhook/test`
    return paused_at === null
      ? error("webhook", `${since}. ${waiting}`, `${repair}. Waiting events follow by themselves`)
      : error(
          "webhook",
          `The webhook is paused since ${at(paused_at)}. ${since}. ${waiting}`,
          `${repair}. Then set its URL again with PATCH ${route}/delivery, which resumes it at once`
        )
  }
  if (dead > 0) {
    return warning(
      "webhook",
      `The webhook at ${where} works, and ${events(dead, "is a dead letter", "are dead letters")}, because every attempt failed`,
      "Deliver them again with inlet replay --dead"
    )
  }
  return last_success_at === null
    ? ok("webhook", `The webhook at ${where} has had no delivery yet. POST ${route}/webhook/test sends a test`)
    : ok("webhook", `The webhook at ${where} works. Its last success was at ${at(last_success_at)}`)
}
