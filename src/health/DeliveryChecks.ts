import * as AnswerAdvice from "../delivery/AnswerAdvice.ts"
import { type Failing, type Health, mostAttempts, mostCounted } from "../delivery/WebhookHealth.ts"
import type { Domain } from "../model/Domain.ts"
import { catchAll, catchAllOf, type Webhook } from "../model/Webhook.ts"
import { error, type HealthCheck, ok, secondOf, warning } from "./HealthCheck.ts"

const events = (count: number, does: string, doAll: string) =>
  count === 1 ? `1 event ${does}` : `${count.toLocaleString("en")} events ${doAll}`

/** The check of where events go. */
export const webhook = (
  domain: Pick<Domain, "catch_all" | "id" | "pull" | "webhookUrl">,
  {
    attemptsCut,
    deadCut,
    failing,
    health,
    lastStatus
  }: {
    readonly health: Health
    readonly failing: Failing | null
    /** The status of the answer that `last_error` is about. */
    readonly lastStatus: number | null
    /** True if older attempts of the domain, and so of this webhook, are not in `health`. */
    readonly attemptsCut: boolean
    /** The same for dead letters. */
    readonly deadCut: boolean
  }
): HealthCheck => {
  const { dead, held, last_error, last_success_at, paused_at, pending } = health
  const route = `/api/domains/${domain.id}`
  if (domain.pull) {
    return ok("webhook", `Mail waits until a client fetches it (pull). ${events(pending, "waits", "wait")} now`)
  }
  if (domain.catch_all === "reject") {
    return ok("webhook", "Mail for addresses without a webhook of their own is answered 550")
  }
  if (domain.webhookUrl === null) {
    return warning(
      "webhook",
      `No webhook is set, so Inlet holds mail. ${events(held, "is held", "are held")}`,
      `Set a webhook with PATCH ${route}/delivery {"webhookUrl": "https://…"}. Held events follow after POST ${route}/replays {"status": "held"}. Without a webhook, events can still be listed`
    )
  }
  // The path of the URL may contain a token.
  const where = new URL(domain.webhookUrl).host
  if (failing !== null) {
    const why = last_error === null ? "" : `. The last error: ${last_error}`
    const next =
      failing.next_attempt_at === null ? "" : `, and the next attempt is at ${secondOf(failing.next_attempt_at)}`
    const since = `Every request to the webhook at ${where} has failed since ${secondOf(failing.since)}${why}`
    const waiting = `${events(failing.waiting, "waits", "wait")}${next}`
    const advice = AnswerAdvice.of({ statusCode: lastStatus, error: last_error })
    const repair = `${advice}. POST ${route}/webhook/test tests it`
    return paused_at === null
      ? error("webhook", `${since}. ${waiting}`, `${repair}. Waiting events follow by themselves`)
      : error(
          "webhook",
          `The webhook is paused since ${secondOf(paused_at)}. ${since}. ${waiting}`,
          `${repair}. Then resume it with PATCH ${route}/webhooks/${catchAllOf(domain.id)} {"action": "webhook"}`
        )
  }
  if (dead > 0) {
    return warning(
      "webhook",
      `The webhook at ${where} works, and ${events(dead, "is a dead letter", "are dead letters")}, because every attempt failed`,
      `Deliver them again with POST ${route}/replays {"status": "dead"}`
    )
  }
  if (deadCut) {
    const most = mostCounted.toLocaleString("en")
    return warning(
      "webhook",
      `The domain has ${most} dead letters or more. None of the ${most} that were counted is of the webhook at ${where}`,
      `List them with GET ${route}/events?delivery=dead, and deliver them again with POST ${route}/replays {"status": "dead"}`
    )
  }
  if (last_success_at !== null) {
    return ok("webhook", `The webhook at ${where} works. Its last success was at ${secondOf(last_success_at)}`)
  }
  return ok(
    "webhook",
    attemptsCut
      ? `The webhook at ${where} had no delivery among the last ${mostAttempts.toLocaleString("en")} attempts of the domain. POST ${route}/webhook/test sends a test`
      : `The webhook at ${where} has had no delivery yet. POST ${route}/webhook/test sends a test`
  )
}

/** The checks of the webhooks for some addresses: those that do not deliver, or one for all that do. */
export const others = (webhooks: ReadonlyArray<Webhook>): ReadonlyArray<HealthCheck> => {
  const own = webhooks.filter(({ pattern }) => pattern !== catchAll)
  const problems = own.flatMap(({ action, domain_id, failing_since, id, paused_at, pattern }) => {
    const route = `/api/domains/${domain_id}/webhooks/${id}`
    if (failing_since !== null) {
      const state = paused_at === null ? "" : `is paused since ${secondOf(paused_at)}, and `
      return [
        error(
          "webhook",
          `The webhook ${pattern} ${state}has failed every request since ${secondOf(failing_since)}`,
          `POST ${route}/test shows its answer. Waiting events follow once it answers 2xx, and POST /api/domains/${domain_id}/replays {"status": "dead"} delivers dead letters again`
        )
      ]
    }
    return action === "hold"
      ? [
          warning(
            "webhook",
            `The webhook ${pattern} holds its mail`,
            `Give it a URL with PATCH ${route}, then replay what it holds`
          )
        ]
      : []
  })
  return problems.length > 0 || own.length === 0
    ? problems
    : [
        ok(
          "webhook",
          `${own.length === 1 ? "1 webhook takes" : `${own.length} webhooks take`} the mail of some addresses`
        )
      ]
}
