import { Console, Effect, Option } from "effect"
import type { Domain } from "../../model/Domain.ts"
import type { Replay, ReplayStatus } from "../../model/Replay.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as PastTime from "../terminal/PastTime.ts"
import * as ProgressBar from "../terminal/ProgressBar.ts"
import * as Service from "../terminal/Service.ts"
import * as WebhookNamed from "../terminal/WebhookNamed.ts"

export interface Wanted {
  readonly status: ReplayStatus
  readonly domain: Option.Option<string>
  readonly since: Option.Option<string>
  readonly until: Option.Option<string>
  readonly recipient: Option.Option<string>
  /** Pattern or id of the webhook that takes all of them. */
  readonly webhook: Option.Option<string>
  readonly yes: boolean
  readonly detach: boolean
  readonly json: boolean
}

const number = (count: number) => count.toLocaleString("en")

const deliveries = (count: number, status: ReplayStatus) =>
  `${number(count)} ${status} ${count === 1 ? "delivery" : "deliveries"}`

const outcomes = ({ delivered, failed, unserved }: Replay) =>
  `${number(delivered)} delivered, ${number(failed)} failed${unserved === 0 ? "" : ` (${number(unserved)} without a webhook that takes them)`}`

const timeOf = (flag: string, text: Option.Option<string>) =>
  Option.match(text, {
    onNone: () => Effect.succeed({}),
    onSome: (text) => Effect.map(PastTime.parse(flag, text), (time) => ({ [flag]: time }))
  })

/** Counts the deliveries, asks for confirmation, starts a job and follows it. */
export const run = Effect.fnUntraced(function* (place: Service.Place, wanted: Wanted) {
  const { detach, json, status, yes } = wanted
  const selection = {
    status,
    ...(yield* timeOf("since", wanted.since)),
    ...(yield* timeOf("until", wanted.until)),
    ...(Option.isSome(wanted.recipient) ? { recipient: wanted.recipient.value } : {})
  }
  yield* Service.ask(
    place,
    Effect.fnUntraced(function* (api) {
      const found = yield* Service.domainOrOnly(api, Option.getOrUndefined(wanted.domain))
      const { domain, id } = found
      const webhook = Option.isNone(wanted.webhook)
        ? undefined
        : yield* WebhookNamed.find(api, found, wanted.webhook.value)
      const pull = webhook === undefined ? found.pull : webhook.action === "pull"
      const at = webhook === undefined ? {} : { webhook_id: webhook.id }
      const start = (dry_run: boolean) =>
        api.replays.start({ params: { id }, payload: { ...selection, ...at, dry_run }, headers: {} })
      const { total } = yield* start(true)
      if (total === 0) {
        const otherwise =
          status === "held"
            ? ". `inlet senders release` delivers mail that a rule, the scanner or the loop guard holds"
            : ""
        return yield* Console.error(`${domain} has no ${status} deliveries to replay${otherwise}`)
      }
      yield* Confirmation.ask(yes, `Replay ${deliveries(total, status)} of ${domain}?`)
      const started = yield* start(false)
      if (!("id" in started)) return
      if (detach) return yield* Answer.lines(json, started, [started.id])
      if (pull) {
        yield* Console.error(
          "They wait for `inlet listen --take`. Ctrl-C ends only this command, as --detach does at once. `inlet replays stop` stops the job"
        )
      }
      const job = yield* follow(api, id, started)
      yield* Answer.lines(json, job, [`${deliveries(job.queued, status)} replayed: ${outcomes(job)}`])
      if (job.failed > job.unserved)
        yield* Console.error("Failed ones are retried like any delivery. `inlet attempts` has the errors")
      if (job.unserved > 0) {
        return yield* new CommandFailed({ message: "Set a URL with `inlet webhooks update`, then replay again" })
      }
    })
  )
})

/** Asks for the progress every second until the job has ended. */
const follow = Effect.fnUntraced(function* (api: Service.Client, id: Domain["id"], started: Replay) {
  let job = started
  while (job.state === "running") {
    const { delivered, failed, total } = job
    yield* ProgressBar.draw(
      delivered + failed,
      total,
      `${number(delivered + failed)} of ${number(total)}: ${outcomes(job)}`
    )
    yield* Effect.sleep("1 second")
    job = yield* api.replays.get({ params: { id, replayId: job.id } })
  }
  yield* ProgressBar.draw(job.queued, job.queued, outcomes(job))
  yield* ProgressBar.end
  return job
})
