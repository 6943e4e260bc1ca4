import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { Conflict, Invalid, NotFound, TooManyRequests, Unprocessable } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** The stored answer to a request: a response or a final error. */
export const Answer = Schema.Union([
  Schema.TaggedStruct("Response", { status: Schema.Int, body: Schema.NullOr(Schema.String) }),
  Schema.TaggedStruct("Invalid", { message: Schema.String }),
  Schema.TaggedStruct("NotFound", { message: Schema.String }),
  Schema.TaggedStruct("Conflict", { message: Schema.String })
])
export type Answer = typeof Answer.Type

/** Errors that are stored, because a retry would end the same way. */
export const isAnswer = Schema.is(Schema.Union([Invalid, NotFound, Conflict]))

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly workspaceId: WorkspaceId
  /** Method and path. */
  readonly route: string
  readonly key: string
  /** Distinguishes requests with the same key. */
  readonly fingerprint: Uint8Array
}

/** The right to run a request, until it counts as lost and another one takes it over. */
export interface Turn extends KeyedRequest {
  /** When it began, by the database's clock. */
  readonly begunAt: string
}

/** Hours until a stored answer expires. */
export const keptHours = 24

/** The age at which a running request counts as lost, because its process has died. */
export const mostMinutes = 5

/** Forgets the requests of a process that no longer exists. */
export const endLeases = (sql: SqlClient.SqlClient) => sql`DELETE FROM idempotency_keys WHERE answer IS NULL`

/** Maximum keys of a workspace. */
const mostKeys = 10_000

/** Executes a request once within a day, and stores its answer for retries. */
export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /**
     * The answer of an earlier request, or the turn of the first one, after which `keep` or `forget` must follow. Fails
     * with `Conflict` while the first one is running, and with `Unprocessable` if it was a different request.
     */
    begin(request: KeyedRequest): Effect.Effect<Answer | Turn, Conflict | Unprocessable | TooManyRequests | SqlError>
    /** Changes nothing if another request has taken the turn over. */
    keep(turn: Turn, answer: Answer): Effect.Effect<void, SqlError>
    /** The request had no lasting effect and may be retried. */
    forget(turn: Turn): Effect.Effect<void, SqlError>
  }
>()("inlet/workspaces/IdempotencyKeys") {
  static readonly layer = Layer.effect(
    IdempotencyKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = SqlSchema.findAll({
        Request: Schema.Struct({ workspaceId: Schema.String, route: Schema.String, key: Schema.String }),
        Result: Schema.Struct({
          fingerprint: Schema.Uint8Array,
          answer: Schema.NullOr(Schema.fromJsonString(Answer))
        }),
        execute: ({ key, route, workspaceId }) => sql`
          SELECT fingerprint, answer FROM idempotency_keys
          WHERE workspace_id = ${workspaceId} AND route = ${route} AND key = ${key}
        `
      })

      const hasRoom = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const [row] = yield* sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM (
            SELECT 1 FROM idempotency_keys WHERE workspace_id = ${workspaceId} LIMIT ${mostKeys}
          ) AS own
        `
        return (row?.count ?? 0) < mostKeys
      })

      const begin: IdempotencyKeys["Service"]["begin"] = Effect.fn("IdempotencyKeys.begin")(function* (request) {
        const { fingerprint, key, route, workspaceId } = request
        const [before] = yield* find({ workspaceId, route, key })
        if (before === undefined && !(yield* hasRoom(workspaceId))) {
          return yield* new TooManyRequests({
            message: `A workspace can use ${mostKeys} Idempotency-Keys in ${keptHours} hours. Send the request without one, or later`,
            retryAfter: 3_600
          })
        }
        const [begun] = yield* sql<{ readonly begunAt: string }>`
            INSERT INTO idempotency_keys AS before (workspace_id, route, key, fingerprint)
            VALUES (${workspaceId}, ${route}, ${key}, ${fingerprint})
            ON CONFLICT (workspace_id, route, key) DO UPDATE SET
              fingerprint = excluded.fingerprint, begun_at = now(), answer = NULL
            WHERE before.begun_at < now() - CASE
              WHEN before.answer IS NULL THEN make_interval(mins => ${mostMinutes})
              ELSE make_interval(hours => ${keptHours})
            END
            RETURNING begun_at::text
          `
        if (begun !== undefined) return { ...request, begunAt: begun.begunAt }
        const [row] = yield* find({ workspaceId, route, key })
        if (row !== undefined && Buffer.compare(row.fingerprint, fingerprint) !== 0) {
          return yield* new Unprocessable({
            message: "Idempotency-Key: This key was used for another request. Use a new key for each request"
          })
        }
        // Gone between the two statements: the first one came to nothing just now.
        if (row?.answer == null) {
          return yield* new Conflict({
            message: `Idempotency-Key: The first request with this key is still running. Retry in a second. If the service stopped during that request, retry after ${mostMinutes} minutes`
          })
        }
        return row.answer
      }, Bugs.die)

      return IdempotencyKeys.of({
        begin,
        keep: Effect.fn("IdempotencyKeys.keep")(({ begunAt, key, route, workspaceId }, answer) =>
          sql`
            UPDATE idempotency_keys SET answer = ${JSON.stringify(answer)}
            WHERE workspace_id = ${workspaceId} AND route = ${route} AND key = ${key}
              AND begun_at = ${begunAt}::timestamptz
          `.pipe(Effect.asVoid)
        ),
        forget: Effect.fn("IdempotencyKeys.forget")(({ begunAt, key, route, workspaceId }) =>
          sql`
            DELETE FROM idempotency_keys
            WHERE workspace_id = ${workspaceId} AND route = ${route} AND key = ${key}
              AND begun_at = ${begunAt}::timestamptz AND answer IS NULL
          `.pipe(Effect.asVoid)
        )
      })
    })
  )
}
