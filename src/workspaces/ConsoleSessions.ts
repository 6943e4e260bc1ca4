import { createHash } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { NotFound, Unauthorized } from "../model/ApiError.ts"
import { type ConsoleSession, SessionId } from "../model/ConsoleSession.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import { KeyId } from "../model/WorkspaceKey.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { type Opened, recheckFrom, Workspaces } from "./Workspaces.ts"

/** Hours without a request after which a session ends. */
export const idleHours = 12

/** Seconds that a link of `inlet console` works, once. */
export const linkSeconds = 60

/** Sessions of a workspace. A new one beyond them ends the oldest. */
const mostSessions = 50

const Row = Schema.Struct({
  id: SessionId,
  scope: Schema.Literals(["full", "read"]),
  browser: Schema.NullOr(Schema.String),
  createdAt: Schema.DateTimeUtcFromDate,
  lastUsedAt: Schema.DateTimeUtcFromDate
})

/** The holder of a new session. The operator has no workspace. */
interface Holder {
  readonly workspaceId: WorkspaceId | null
  /** The read key that signs in, or null. */
  readonly keyId: KeyId | null
  /** SHA-256 of the workspace's own key or the operator's token, or null for a read key. */
  readonly keyHash: Uint8Array | null
}

/** A session of a workspace, opened by its cookie. */
export interface OpenedSession extends Opened {
  readonly sessionId: SessionId
}

/**
 * Keeps the browsers that are signed in to the console. A session is a random cookie whose SHA-256 is stored. It ends
 * with its key, after twelve idle hours, or when it is revoked.
 */
export class ConsoleSessions extends Context.Service<
  ConsoleSessions,
  {
    /** Opens a session and returns its cookie. */
    open(holder: Holder, browser: string | undefined): Effect.Effect<Redacted.Redacted, SqlError>
    /** Opens the session of a link, which then no longer works. */
    redeem(
      link: Redacted.Redacted,
      browser: string | undefined
    ): Effect.Effect<Redacted.Redacted, Unauthorized | SqlError>
    /** Makes a link token with the scope of the workspace's own key. Expires after `linkSeconds`. */
    makeLink(opened: Pick<Opened, "id" | "keyHash">): Effect.Effect<Redacted.Redacted, SqlError>
    /** The workspace of a cookie. */
    authenticate(cookie: Redacted.Redacted): Effect.Effect<OpenedSession, Unauthorized | SqlError>
    /** Checks the cookie of an operator, which ends with the token that it was opened with. */
    isOperator(cookie: Redacted.Redacted, tokenHash: Uint8Array): Effect.Effect<boolean, SqlError>
    /** Lists the sessions of a workspace, newest first. */
    list(
      workspaceId: WorkspaceId,
      current: SessionId | undefined
    ): Effect.Effect<ReadonlyArray<ConsoleSession>, SqlError>
    /** Revokes a session of a workspace. */
    revoke(owned: {
      readonly workspaceId: WorkspaceId
      readonly id: SessionId
    }): Effect.Effect<void, NotFound | SqlError>
    /** Ends the session of a cookie, if there is one. */
    signOut(cookie: Redacted.Redacted): Effect.Effect<void, SqlError>
  }
>()("inlet/workspaces/ConsoleSessions") {
  static readonly layer = Layer.effect(
    ConsoleSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const workspaces = yield* Workspaces
      const scope = yield* Effect.scope

      const newToken = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(Buffer.from(bytes).toString("base64url"))
      )
      const isFresh = sql`last_used_at > now() - make_interval(hours => ${idleHours})`

      const open: ConsoleSessions["Service"]["open"] = Effect.fn("ConsoleSessions.open")(function* (
        { keyHash, keyId, workspaceId },
        browser
      ) {
        const id = SessionId.make(yield* random.uuidV7())
        const cookie = yield* newToken
        const sameHolder = sql.and([
          workspaceId === null ? sql`workspace_id IS NULL` : sql`workspace_id = ${workspaceId}`,
          keyId === null ? sql`key_id IS NULL` : sql`key_id = ${keyId}`
        ])
        yield* sql`
            WITH surplus AS (
              DELETE FROM console_sessions WHERE id IN (
                SELECT id FROM console_sessions WHERE ${sameHolder} ORDER BY id DESC OFFSET ${mostSessions - 1}
              )
            )
            INSERT INTO console_sessions (id, token_hash, workspace_id, key_id, key_hash, browser)
            VALUES (
              ${id}, ${hashOf(cookie)}, ${workspaceId}, ${keyId}, ${keyHash},
              ${browser?.slice(0, 200).toWellFormed() ?? null}
            )
          `
        return cookie
      })

      const makeLink: ConsoleSessions["Service"]["makeLink"] = Effect.fn("ConsoleSessions.makeLink")(function* ({
        id,
        keyHash
      }) {
        const token = yield* newToken
        yield* sql`
          INSERT INTO console_links (token_hash, workspace_id, key_hash, expires_at)
          VALUES (${hashOf(token)}, ${id}, ${keyHash}, now() + make_interval(secs => ${linkSeconds}))
        `
        return token
      })

      const takeLink = SqlSchema.findAll({
        Request: Schema.Uint8Array,
        Result: Schema.Struct({ workspaceId: WorkspaceId, keyHash: Schema.Uint8Array, isFresh: Schema.Boolean }),
        execute: (hash) => sql`
          DELETE FROM console_links WHERE token_hash = ${hash}
          RETURNING workspace_id, key_hash, expires_at > now() AS is_fresh
        `
      })

      const redeem: ConsoleSessions["Service"]["redeem"] = Effect.fn("ConsoleSessions.redeem")(
        function* (link, browser) {
          const [taken] = yield* Bugs.die(takeLink(hashOf(link)))
          if (taken === undefined || !taken.isFresh) {
            return yield* new Unauthorized({
              message: `This link was used or is older than ${linkSeconds} s. Run \`inlet console\` again`
            })
          }
          return yield* open({ workspaceId: taken.workspaceId, keyId: null, keyHash: taken.keyHash }, browser)
        }
      )

      const find = SqlSchema.findAll({
        Request: Schema.Uint8Array,
        Result: Schema.Struct({
          id: SessionId,
          workspaceId: Schema.NullOr(WorkspaceId),
          keyId: Schema.NullOr(KeyId),
          keyHash: Schema.NullOr(Schema.Uint8Array),
          isStale: Schema.Boolean
        }),
        // A session that was opened while its key was replaced has the old key's hash.
        execute: (hash) => sql`
          SELECT console_sessions.id, workspace_id, key_id, key_hash,
            last_used_at < now() - interval '5 minutes' AS is_stale
          FROM console_sessions LEFT JOIN workspaces ON workspaces.id = workspace_id
          WHERE NOT EXISTS (SELECT 1 FROM workspace_keys WHERE id = key_id AND pattern IS NOT NULL) AND token_hash = ${hash} AND ${isFresh}
            AND (workspace_id IS NULL OR key_id IS NOT NULL OR key_hash = api_key_hash)
        `
      })

      const touch = (id: SessionId) =>
        Effect.ignore(sql`UPDATE console_sessions SET last_used_at = now() WHERE id = ${id} AND ${isFresh}`)

      const sessionOf = Effect.fnUntraced(function* (cookie: Redacted.Redacted) {
        const [session] = yield* Bugs.die(find(hashOf(cookie)))
        return session
      })

      const noteUse = (session: { readonly id: SessionId; readonly isStale: boolean }) =>
        session.isStale ? Effect.asVoid(Effect.forkIn(touch(session.id), scope)) : Effect.void

      const ownSession = Effect.fnUntraced(function* (cookie: Redacted.Redacted) {
        const session = yield* sessionOf(cookie)
        return session?.workspaceId == null ? yield* ended : { ...session, workspaceId: session.workspaceId }
      })

      const authenticate: ConsoleSessions["Service"]["authenticate"] = Effect.fn("ConsoleSessions.authenticate")(
        function* (cookie) {
          const { watch } = workspaces.replacements()
          const look = ownSession(cookie)
          const now = yield* Elapsed.millis
          const session = yield* look
          yield* noteUse(session)
          return {
            id: session.workspaceId,
            keyId: session.keyId,
            // A key with a limit opens no session.
            limit: null,
            keyHash: session.keyHash,
            scope: session.keyId === null ? ("full" as const) : ("read" as const),
            sessionId: session.id,
            // An open stream is no use of the session: a forgotten tab ends after the idle time too.
            untilReplaced: watch(session.workspaceId, look),
            stillValid: recheckFrom(now, look)
          }
        }
      )

      const isOperator: ConsoleSessions["Service"]["isOperator"] = Effect.fn("ConsoleSessions.isOperator")(
        function* (cookie, tokenHash) {
          const session = yield* sessionOf(cookie)
          if (session === undefined || session.workspaceId !== null || session.keyHash === null) return false
          yield* noteUse(session)
          return Buffer.compare(session.keyHash, tokenHash) === 0
        }
      )

      const select = SqlSchema.findAll({
        Request: WorkspaceId,
        Result: Row,
        execute: (workspaceId) => sql`
          SELECT id, CASE WHEN key_id IS NULL THEN 'full' ELSE 'read' END AS scope, browser, created_at, last_used_at
          FROM console_sessions WHERE workspace_id = ${workspaceId} AND ${isFresh} ORDER BY id DESC
        `
      })

      const list: ConsoleSessions["Service"]["list"] = Effect.fn("ConsoleSessions.list")(
        function* (workspaceId, current) {
          const rows = yield* Bugs.die(select(workspaceId))
          return rows.map(({ createdAt, lastUsedAt, ...row }) => ({
            ...row,
            created_at: createdAt,
            last_used_at: lastUsedAt,
            current: row.id === current
          }))
        }
      )

      const revoke: ConsoleSessions["Service"]["revoke"] = Effect.fn("ConsoleSessions.revoke")(function* ({
        id,
        workspaceId
      }) {
        const removed = yield* sql`
          DELETE FROM console_sessions WHERE id = ${id} AND workspace_id = ${workspaceId} RETURNING id
        `
        if (removed.length === 0) {
          return yield* new NotFound({
            message: "No session with this id in this workspace. GET /api/console/sessions lists them"
          })
        }
        yield* workspaces.replacements().tell(workspaceId)
      })

      const signOut: ConsoleSessions["Service"]["signOut"] = Effect.fn("ConsoleSessions.signOut")(function* (cookie) {
        const [removed] = yield* sql<{ readonly workspaceId: WorkspaceId | null }>`
          DELETE FROM console_sessions WHERE token_hash = ${hashOf(cookie)} RETURNING workspace_id
        `
        if (removed?.workspaceId != null) yield* workspaces.replacements().tell(removed.workspaceId)
      })

      return ConsoleSessions.of({
        open,
        redeem,
        makeLink,
        authenticate,
        isOperator,
        list,
        revoke,
        signOut
      })
    })
  )
}

const ended = new Unauthorized({ message: "This session has ended. Sign in again at /console" })

// SHA-256 is enough: a token is 256 random bits, so it cannot be brute-forced.
const hashOf = (token: Redacted.Redacted) => createHash("sha256").update(Redacted.value(token)).digest()
