import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, type Invalid, NotFound, type TooManyRequests } from "../model/ApiError.ts"
import { DomainId, type DomainStatus } from "../model/Domain.ts"
import * as Page from "../model/Page.ts"
import { type Replay, ReplayId, ReplayState, ReplayStatus } from "../model/Replay.ts"
import { noSuchWebhook, WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as DeliveredReplays from "./DeliveredReplays.ts"
import * as ReplayCandidates from "./ReplayCandidates.ts"
import * as TimeRange from "./TimeRange.ts"

const Row = Schema.Struct({
  id: ReplayId,
  status: ReplayStatus,
  since: Schema.NullOr(Schema.DateTimeUtcFromDate),
  until: Schema.NullOr(Schema.DateTimeUtcFromDate),
  recipient: Schema.NullOr(Schema.String),
  webhookId: Schema.NullOr(WebhookId),
  state: ReplayState,
  total: Schema.Int,
  queued: Schema.Int,
  delivered: Schema.Int,
  failed: Schema.Int,
  unserved: Schema.Int,
  createdAt: Schema.DateTimeUtcFromDate,
  finishedAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

const toReplay = ({ createdAt, finishedAt, webhookId, ...row }: typeof Row.Type): Replay => ({
  ...row,
  webhook_id: webhookId,
  created_at: createdAt,
  finished_at: finishedAt
})

const noSuchReplay = new NotFound({
  message: "No replay with this id at this domain. GET /api/domains/{id}/replays lists them"
})

/** The deliveries of a job, and the webhook that takes them. Null for each at its own. */
export interface Job extends ReplayCandidates.Selection {
  readonly webhookId: WebhookId | null
}

/** Starts, shows and stops jobs that deliver events again. `ReplayWorker.ts` carries them out. */
export class Replays extends Context.Service<
  Replays,
  {
    /** The number of deliveries that a job would replay. */
    count(selection: ReplayCandidates.Selection): Effect.Effect<number, SqlError>
    /** Counts the deliveries and starts a job for them. A domain has one running job. */
    start(job: Job): Effect.Effect<Replay, Conflict | NotFound | TooManyRequests | SqlError>
    /** Newest first. `cursor` is the id of the last job of the previous page. */
    list(
      domainId: DomainId,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page.Page<Replay>, Invalid | SqlError>
    get(domainId: DomainId, id: ReplayId): Effect.Effect<Replay, NotFound | SqlError>
    /** Stops a job. What it made due stays due. A finished job stays as it is. */
    stop(domainId: DomainId, id: ReplayId): Effect.Effect<Replay, NotFound | SqlError>
  }
>()("inlet/events/Replays") {
  static readonly layer = Layer.effect(
    Replays,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const rows = statements(sql)
      const positionsOf = TimeRange.make(sql)
      const delivered = yield* DeliveredReplays.make

      /** The database's time, to a millisecond. */
      const now = Effect.flatMap(sql<{ readonly time: Date }>`SELECT now() AS time`, ([row]) =>
        row === undefined ? Effect.die("no time") : Effect.succeed(DateTime.fromDateUnsafe(row.time))
      )

      /** The range of positions is fixed at the start, so that a job ends although mail goes on. */
      const counted = Effect.fnUntraced(function* (selection: ReplayCandidates.Started) {
        const { domainId, since, until } = selection
        const [last] = yield* sql<{ readonly position: bigint }>`
          SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position DESC LIMIT 1
        `
        const inTime = yield* positionsOf(domainId, { since: since ?? undefined, until: until ?? undefined })
        const end = (last?.position ?? 0n) + 1n
        const range = { above: inTime.above, below: inTime.below < end ? inTime.below : end }
        return { ...(yield* ReplayCandidates.count(sql, selection, range)), above: range.above }
      })

      const start: Replays["Service"]["start"] = Effect.fn("Replays.start")(function* (selection) {
        const { domainId, webhookId } = selection
        const workspaceId = yield* checkServed(sql, selection)
        const id = ReplayId.make(yield* random.uuidV7())
        const startedAt = yield* now
        const { above, below, total } = yield* counted({ ...selection, startedAt })
        const insert = Effect.gen(function* () {
          if (webhookId !== null) yield* keepWebhook(sql, { domainId, webhookId })
          const [row] = yield* rows.insert({ ...selection, id, total, position: above, below, startedAt })
          // A refusal takes the job back.
          if (row !== undefined && selection.status === "delivered") yield* delivered.reserve(workspaceId, total)
          return row
        })
        const row = yield* sql.withTransaction(insert)
        if (row !== undefined) {
          if (total > 0) yield* Pausing.resumeAll(sql, domainId, webhookId)
          return toReplay(row)
        }
        const [running] = yield* rows.running(domainId)
        return yield* new Conflict({
          message: `A replay of this domain is running${running === undefined ? "" : `: ${running.id}`}. Wait until it is done, or stop it with DELETE /api/domains/{id}/replays/{replayId}`
        })
      }, Bugs.die)

      const list: Replays["Service"]["list"] = Effect.fn("Replays.list")(function* (domainId, { cursor, limit }) {
        const before = (yield* Page.idIn(ReplayId)(cursor)) ?? null
        const { items, nextCursor } = Page.of(yield* rows.list({ domainId, before, limit: limit + 1 }), limit)
        return { items: items.map(toReplay), nextCursor }
      }, Bugs.die)

      const get: Replays["Service"]["get"] = Effect.fn("Replays.get")(function* (domainId, id) {
        const [row] = yield* rows.get({ domainId, id })
        return row === undefined ? yield* noSuchReplay : toReplay(row)
      }, Bugs.die)

      const stop: Replays["Service"]["stop"] = Effect.fn("Replays.stop")(function* (domainId, id) {
        yield* sql`
          WITH stopped AS (
            UPDATE replays SET state = 'stopped', finished_at = now(), open = '{}'
            WHERE domain_id = ${domainId} AND id = ${id} AND state = ${"running"}
            RETURNING domain_id, status, total, queued, created_at
          )
          ${delivered.release}
        `
        return yield* get(domainId, id)
      }, Bugs.die)

      return Replays.of({
        count: Effect.fn("Replays.count")(function* (selection) {
          const { total } = yield* counted({ ...selection, startedAt: yield* now })
          return total
        }),
        start,
        list,
        get,
        stop
      })
    })
  )
}

/** Fails for a webhook that is gone. Otherwise its removal waits for this transaction, and finds the job. */
const keepWebhook = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { domainId, webhookId }: { readonly domainId: DomainId; readonly webhookId: WebhookId }
) {
  const rows = yield* sql`SELECT 1 FROM webhooks WHERE domain_id = ${domainId} AND id = ${webhookId} FOR KEY SHARE`
  if (rows.length === 0) return yield* noSuchWebhook
})

/** The workspace of a domain. Fails for a domain whose mail goes nowhere. */
const checkServed = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { domainId, webhookId }: Job) {
  const [domain] = yield* sql<{
    readonly status: DomainStatus
    readonly disabledReason: string
    readonly isServed: boolean | null
    readonly workspaceId: WorkspaceId
  }>`
    SELECT workspace_id, status, disabled_reason, (
      SELECT bool_or(action IN ('webhook', 'pull')) FROM webhooks
      WHERE webhooks.domain_id = domains.id AND (${webhookId}::uuid IS NULL OR webhooks.id = ${webhookId})
    ) AS is_served
    FROM domains WHERE id = ${domainId}
  `
  if (domain?.status === "disabled") {
    return yield* new Conflict({ message: `This domain is disabled: ${domain.disabledReason}` })
  }
  if (domain?.isServed === true) return domain.workspaceId
  if (domain?.isServed === null) return yield* noSuchWebhook
  return yield* new Conflict({
    message:
      webhookId === null
        ? "This domain has no webhook: set one with PATCH /api/domains/{id}/delivery, and replay then"
        : "This webhook takes no deliveries now. Give it a URL with PATCH /api/domains/{id}/webhooks/{webhookId}, and replay then"
  })
})

const statements = (sql: SqlClient.SqlClient) => {
  const time = Schema.NullOr(Schema.DateTimeUtcFromDate)
  const columns = sql.literal(
    "id, status, since, until, recipient, webhook_id, state, total, queued, delivered, failed, unserved, created_at, finished_at"
  )
  return {
    insert: SqlSchema.findAll({
      Request: Schema.Struct({
        id: ReplayId,
        domainId: DomainId,
        status: ReplayStatus,
        since: time,
        until: time,
        recipient: Schema.NullOr(Schema.String),
        webhookId: Schema.NullOr(WebhookId),
        total: Schema.Int,
        position: Schema.BigInt,
        below: Schema.BigInt,
        startedAt: Schema.DateTimeUtcFromDate
      }),
      Result: Row,
      execute: ({ below, domainId, id, position, recipient, since, startedAt, status, total, until, webhookId }) => sql`
        INSERT INTO replays (
          id, domain_id, status, since, until, recipient, webhook_id, state, total, position, below, created_at, finished_at
        )
        VALUES (
          ${id}, ${domainId}, ${status}, ${since}, ${until}, ${recipient}, ${webhookId},
          CASE WHEN ${total}::int = 0 THEN 'done' ELSE 'running' END, ${total}, ${position}, ${below},
          ${startedAt}, CASE WHEN ${total}::int = 0 THEN now() END
        )
        ON CONFLICT (domain_id) WHERE state = 'running' DO NOTHING
        RETURNING ${columns}
      `
    }),
    running: SqlSchema.findAll({
      Request: DomainId,
      Result: Row,
      execute: (domainId) => sql`SELECT ${columns} FROM replays WHERE domain_id = ${domainId} AND state = 'running'`
    }),
    list: SqlSchema.findAll({
      Request: Schema.Struct({ domainId: DomainId, before: Schema.NullOr(ReplayId), limit: Schema.Int }),
      Result: Row,
      execute: ({ before, domainId, limit }) => sql`
        SELECT ${columns} FROM replays
        WHERE domain_id = ${domainId} ${before === null ? sql`` : sql`AND id < ${before}`}
        ORDER BY id DESC LIMIT ${limit}
      `
    }),
    get: SqlSchema.findAll({
      Request: Schema.Struct({ domainId: DomainId, id: ReplayId }),
      Result: Row,
      execute: ({ domainId, id }) => sql`SELECT ${columns} FROM replays WHERE domain_id = ${domainId} AND id = ${id}`
    })
  }
}
