import type { DateTime } from "effect"
import { DateTime as Time } from "effect"
import * as AnswerAdvice from "../delivery/AnswerAdvice.ts"
import * as FailureReason from "../delivery/FailureReason.ts"
import { pull } from "../delivery/Lease.ts"
import { catchAll } from "../model/Webhook.ts"
import * as Routes from "../webhooks/routes/Routes.ts"
import * as ScanStep from "./ScanStep.ts"
import * as SenderStep from "./SenderStep.ts"
import { type Attempt, mostAttempts, type ReadMail } from "./TracedMail.ts"
import { done, type TraceOutcome, type TraceStep, wrong } from "./TraceEntry.ts"

/** Never the path or the query, which may hold a token. */
const hostOf = (url: string) => new URL(url).host

/** The webhook that took the event, in words. */
const webhookOf = ({ domain, pattern, recipient }: ReadMail) => {
  if (pattern === null) return `The webhook of ${domain} that took it`
  const own = pattern === catchAll ? `The webhook of ${domain}` : `The webhook ${pattern} of ${domain}`
  const isByKind = !Routes.takes(pattern, Routes.localPartOf(recipient))
  return isByKind ? `${own}, which takes mail of this kind,` : own
}

/** Why the webhook takes no delivery. */
const notTaking = (mail: ReadMail) =>
  mail.pattern === catchAll ? `${mail.domain} has no webhook` : `${webhookOf(mail)} holds its mail`

/** Its status. A pending delivery is about to be held if its webhook holds or is gone. */
const statusOf = ({ action, isLeased, status, webhookUrl }: ReadMail) =>
  status === "pending" && !isLeased && webhookUrl === null && action !== "pull" ? "held" : status

/** True if only a webhook is missing, which the state says with its remedy. */
const isMissing = (mail: ReadMail) => {
  const { action, holdReason, webhookUrl } = mail
  return statusOf(mail) === "held" && holdReason === null && webhookUrl === null && action !== null && action !== "pull"
}

/** Where the event goes. */
const route = (mail: ReadMail): TraceStep => {
  const { action, domain, pattern, readAt, webhookUrl } = mail
  if (pattern === null) {
    return wrong(
      "route",
      readAt,
      `${webhookOf(mail)} is removed`,
      "Replay the event. The catch-all takes it, or the webhook that you name with ?webhook=ID"
    )
  }
  if (webhookUrl !== null) {
    // Its delivery is held since a time without a URL.
    const isNew = mail.status === "held" && mail.holdReason === null
    return done(
      "route",
      readAt,
      `${webhookOf(mail)} ${isNew ? "had no URL then, and is now" : "is"} at ${hostOf(webhookUrl)}`
    )
  }
  if (action === "pull") {
    return done(
      "route",
      readAt,
      pattern === catchAll
        ? `${domain} has no webhook. Clients lease its deliveries`
        : `Clients lease the deliveries of ${pattern} at ${domain}`
    )
  }
  return wrong(
    "route",
    readAt,
    notTaking(mail),
    `Read the mail with the API, or set a webhookUrl with PATCH ${pathOf(mail)}, then replay`
  )
}

const attemptStep = (made: Attempt): TraceStep => {
  const { attempt, durationMs, error, ok, requestedAt, statusCode, url } = made
  const took = durationMs === null ? "" : ` after ${durationMs} ms`
  const way = url === pull ? "by a client that leased it" : `to ${hostOf(url)}`
  const text = `Attempt ${attempt} ${way}: ${statusCode ?? error ?? "no answer"}${took}`
  return ok ? done("attempt", requestedAt, text) : wrong("attempt", requestedAt, text, adviceOn(made))
}

/** What a client reports of a leased delivery is of its own app, which this service does not reach. */
const adviceOn = ({ error, statusCode, url }: Attempt): string =>
  url === pull && error !== FailureReason.untold
    ? "The client that leased the event reported this. Correct the app that it hands events to"
    : AnswerAdvice.of({ error, statusCode })

/** Where the webhook of a mail is changed. */
const pathOf = ({ domainId, pattern, webhookId }: ReadMail) =>
  pattern === catchAll ? `/api/domains/${domainId}/delivery` : `/api/domains/${domainId}/webhooks/${webhookId}`

interface State {
  readonly outcome: TraceOutcome
  readonly step: TraceStep
}

const at = (time: DateTime.Utc) => Time.formatIso(time)

const pending = (mail: ReadMail): State => {
  const { attempts, disabledReason, domain, domainStatus, dueAt, isLeased, lastError, made, pausedAt, probeAt } = mail
  if (domainStatus === "disabled") {
    const text = `${domain} is disabled: ${disabledReason ?? "by the operator"}. The delivery waits`
    return { outcome: "paused", step: wrong("state", null, text, "Ask the operator to enable the domain") }
  }
  if (pausedAt !== null) {
    const next = probeAt === null ? "" : ` Inlet tries one mail at ${at(probeAt)}.`
    return {
      outcome: "paused",
      step: wrong(
        "state",
        pausedAt,
        `The webhook is paused, because it failed for days.${next}`,
        `Repair the webhook, then resume it with PATCH /api/domains/${mail.domainId}/webhooks/${mail.webhookId} {"action": "webhook"}, which sends what waits`
      )
    }
  }
  if (mail.action === "pull") {
    return { outcome: "waiting", step: done("state", null, isLeased ? "A client has leased it" : "Waits for a lease") }
  }
  if (isLeased) return { outcome: "pending", step: done("state", null, "The webhook is being called now") }
  if (attempts === 0) return { outcome: "pending", step: done("state", dueAt, "The first attempt is due") }
  const last = made.at(-1)
  return {
    outcome: "retrying",
    step: wrong(
      "state",
      dueAt,
      `The next attempt is at ${at(dueAt)}`,
      last === undefined || last.ok ? AnswerAdvice.of({ statusCode: null, error: lastError }) : adviceOn(last)
    )
  }
}

const state = (mail: ReadMail): State => {
  const { deliveredAt, domainId, eventId, lastError, made } = mail
  const last = made.at(-1)
  switch (statusOf(mail)) {
    case "delivered":
      return { outcome: "delivered", step: done("state", deliveredAt, "Delivered") }
    case "held":
      if (mail.holdReason === "spam" || mail.holdReason === "virus") return ScanStep.held(mail, mail.holdReason)
      if (mail.holdReason !== null) return SenderStep.of(mail, mail.holdReason)
      return {
        outcome: "held",
        step: wrong(
          "state",
          null,
          isMissing(mail) ? `Held. ${notTaking(mail)}` : "Held, because no webhook took its delivery",
          `${mail.pattern === null || mail.webhookUrl !== null ? "" : `Set a webhookUrl with PATCH ${pathOf(mail)}, then `}POST /api/domains/${domainId}/events/${eventId}/replay`
        )
      }
    case "dead":
      return {
        outcome: "dead",
        step: wrong(
          "state",
          last?.requestedAt ?? null,
          `Dead letter, because the last attempt failed${lastError === null ? "" : `: ${lastError}`}`,
          `${last === undefined ? AnswerAdvice.of({ statusCode: null, error: lastError }) : adviceOn(last)}. Then POST /api/domains/${domainId}/events/${eventId}/replay`
        )
      }
    case "pending":
      return pending(mail)
  }
}

/** From the event to its delivery, with the outcome. */
export const of = (mail: ReadMail): { readonly outcome: TraceOutcome; readonly steps: ReadonlyArray<TraceStep> } => {
  const { attempts, eventId, made, readAt } = mail
  const earlier = attempts - made.length
  const { outcome, step } = state(mail)
  return {
    outcome,
    steps: [
      done("event", readAt, `Event ${eventId}`),
      ...(isMissing(mail) ? [] : [route(mail)]),
      ...(earlier > 0 && made.length === mostAttempts
        ? [
            done(
              "attempt",
              null,
              `${earlier} earlier attempts, which GET /api/domains/${mail.domainId}/delivery-attempts lists`
            )
          ]
        : []),
      ...made.map(attemptStep),
      step
    ]
  }
}
