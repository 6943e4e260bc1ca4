import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { type Replay, ReplayId } from "../../model/Replay.ts"
import * as Answer from "../terminal/Answer.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"

const id = Argument.String("replay_id").pipe(
  Argument.withDescription("id of a job, from `inlet replays list` or `inlet replay --detach`"),
  Argument.withSchema(ReplayId)
)

const row = ({ created_at, delivered, failed, finished_at, id, queued, state, status, total }: Replay) => ({
  id,
  replays: status,
  state,
  total: `${total}`,
  queued: `${queued}`,
  delivered: `${delivered}`,
  failed: `${failed}`,
  started: DateTime.formatIso(created_at),
  finished: finished_at === null ? "-" : DateTime.formatIso(finished_at)
})

const list = Command.make(
  "list",
  { domain: EventFlags.domain, limit: EventFlags.limit, cursor: EventFlags.cursor, ...Service.flags },
  Effect.fnUntraced(function* ({ cursor, domain, json, limit, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { id } = yield* Service.domainOrOnly(api, Option.getOrUndefined(domain))
        return yield* api.replays.list({ params: { id }, query: Given.of({ cursor, limit }) })
      })
    )
    yield* Answer.table(json, answer, answer.replays.map(row), "No replay jobs")
  })
).pipe(Command.withDescription("List the replay jobs of a domain of the last 30 days, newest first"))

const named = { replayId: id, domain: EventFlags.domain, ...Service.flags }

/** The path of a job of the domain that is named, or of the only one. */
const paramsOf = (api: Service.Client, domain: Option.Option<string>, replayId: ReplayId) =>
  Effect.map(Service.domainOrOnly(api, Option.getOrUndefined(domain)), ({ id }) => ({ params: { id, replayId } }))

const get = Command.make("get", named, ({ domain, json, replayId, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) => Effect.flatMap(paramsOf(api, domain, replayId), (path) => api.replays.get(path))),
    (job) => Answer.record(json, job)
  )
).pipe(Command.withDescription("Show the progress of a replay job"))

const stop = Command.make("stop", named, ({ domain, json, replayId, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) => Effect.flatMap(paramsOf(api, domain, replayId), (path) => api.replays.stop(path))),
    (job) =>
      Answer.lines(json, job, [
        job.state === "stopped"
          ? `Stopped. ${job.queued} of ${job.total} deliveries were queued, and go on`
          : "The job has ended already"
      ])
  )
).pipe(Command.withDescription("Stop a replay job. What it has queued is still delivered"))

export const command = Command.make("replays").pipe(
  Command.withDescription("Replay jobs, which `inlet replay` starts"),
  Command.withSubcommands([list, get, stop]),
  Command.provide(NodeHttpClient.layerUndici)
)
