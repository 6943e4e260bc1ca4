import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Patience from "../database/Patience.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import { Domain, DomainId, DomainName, DomainStatus, Origin } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as Settings from "../Settings.ts"
import { txtName } from "./DnsRecords.ts"
import * as DomainLimit from "./DomainLimit.ts"
import { isWithin } from "./DomainNames.ts"
import * as PlatformName from "./PlatformName.ts"

const Row = Schema.Struct({
  id: DomainId,
  name: DomainName,
  origin: Origin,
  status: DomainStatus,
  disabledReason: Schema.NullOr(Schema.String),
  txtValue: Schema.NullOr(Schema.String),
  webhookUrl: Schema.NullOr(Schema.String),
  webhookPausedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  createdAt: Schema.DateTimeUtcFromDate,
  verifiedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  liveAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

/** Who may do this to a domain: its workspace. */
const Owned = Schema.Struct({ workspaceId: WorkspaceId, id: DomainId })
type Owned = typeof Owned.Type

/** The names customers receive mail at, and their states (spec, section 3). */
export class Domains extends Context.Service<
  Domains,
  {
    /** Registers a name of the customer's own, to be verified. The name is canonical. */
    create(workspaceId: WorkspaceId, name: DomainName): Effect.Effect<Domain, Invalid | Conflict>
    /** The workspace's inbox on the platform domain, made at the first call. */
    instantInbox(workspaceId: WorkspaceId): Effect.Effect<{ readonly domain: Domain; readonly existing: boolean }>
    /** Newest first. */
    list(workspaceId: WorkspaceId): Effect.Effect<ReadonlyArray<Domain>>
    get(owned: Owned): Effect.Effect<Domain, NotFound>
    /** Ownership is proven: pending_verification → mx_pending. A domain past that stays as it is. */
    markVerified(owned: Owned): Effect.Effect<Domain, NotFound | Conflict>
    /** Sets the webhook, or clears it: what is still to be delivered is then held. */
    setWebhook(owned: Owned, url: string | null): Effect.Effect<Domain, NotFound | Conflict>
    /** Detaches the domain; its mail and events go with it. */
    remove(owned: Owned): Effect.Effect<void, NotFound>
    /** For the operator: every domain, newest first. */
    readonly listAll: Effect.Effect<ReadonlyArray<Domain>>
    /** For the operator: the row that holds the name, or every pending one where none does. */
    disable(name: DomainName, reason: string): Effect.Effect<ReadonlyArray<Domain>, NotFound>
    /** For the operator: takes the name from its holder, whose mail and events go with it, so that another can prove it. */
    removeHolder(name: DomainName): Effect.Effect<Domain, NotFound>
    /** Back to the state before. */
    enable(name: DomainName): Effect.Effect<ReadonlyArray<Domain>, NotFound>
  }
>()("inlet/domains/Domains") {
  static readonly layer = Layer.effect(
    Domains,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const raw = yield* RawStore
      const platform = yield* Settings.platform
      const checkRoom = yield* DomainLimit.make

      const toDomain = ({ name, txtValue, ...row }: typeof Row.Type) =>
        new Domain({
          id: row.id,
          domain: name,
          origin: row.origin,
          status: row.status,
          disabled_reason: row.disabledReason,
          txt_name: txtValue === null ? null : txtName(name),
          txt_value: txtValue,
          mx_target: platform.mxHost,
          webhookUrl: row.webhookUrl,
          webhook_paused_at: row.webhookPausedAt,
          created_at: row.createdAt,
          verified_at: row.verifiedAt,
          live_at: row.liveAt
        })

      const insert = SqlSchema.findAll({
        Request: Schema.Struct({
          id: DomainId,
          workspaceId: WorkspaceId,
          name: DomainName,
          origin: Origin,
          txtValue: Schema.NullOr(Schema.String)
        }),
        Result: Row,
        execute: ({ id, name, origin, txtValue, workspaceId }) => sql`
          INSERT INTO domains (id, workspace_id, name, origin, status, txt_value, verified_at)
          VALUES (
            ${id}, ${workspaceId}, ${name}, ${origin},
            ${origin === "instant" ? "verified" : "pending_verification"},
            ${txtValue},
            CASE WHEN ${origin} = 'instant' THEN now() END
          )
          ON CONFLICT DO NOTHING
          RETURNING *
        `
      })

      const selectOwned = SqlSchema.findAll({
        Request: Owned,
        Result: Row,
        execute: ({ id, workspaceId }) => sql`SELECT * FROM domains WHERE id = ${id} AND workspace_id = ${workspaceId}`
      })

      const selectOf = SqlSchema.findAll({
        Request: WorkspaceId,
        Result: Row,
        execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} ORDER BY id DESC`
      })

      const selectInstant = SqlSchema.findAll({
        Request: WorkspaceId,
        Result: Row,
        execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} AND origin = 'instant'`
      })

      const selectEvery = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Row,
        execute: () => sql`SELECT * FROM domains ORDER BY id DESC`
      })

      const updateVerified = SqlSchema.findAll({
        Request: Owned,
        Result: Row,
        execute: ({ id, workspaceId }) => sql`
          UPDATE domains SET status = 'mx_pending', verified_at = now()
          WHERE id = ${id} AND workspace_id = ${workspaceId} AND status = 'pending_verification'
          RETURNING *
        `
      })

      const updateWebhook = SqlSchema.findAll({
        Request: Schema.Struct({ ...Owned.fields, url: Schema.NullOr(Schema.String) }),
        Result: Row,
        execute: ({ id, url, workspaceId }) => sql`
          WITH before AS (
            SELECT id, webhook_url FROM domains
            WHERE id = ${id} AND workspace_id = ${workspaceId} AND status IN ('mx_pending', 'verified', 'live')
            FOR NO KEY UPDATE
          ), under_way AS (
            -- Should their worker stop, it is told which URL they went to.
            UPDATE deliveries SET claimed_url = coalesce(claimed_url, before.webhook_url)
            FROM before
            WHERE deliveries.domain_id = before.id AND deliveries.status = 'pending' AND leased_until IS NOT NULL
          )
          UPDATE domains SET webhook_url = ${url}, webhook_failing_since = NULL
          FROM before WHERE domains.id = before.id
          RETURNING domains.*
        `
      })

      const updateDisabled = SqlSchema.findAll({
        Request: Schema.Struct({ name: DomainName, reason: Schema.String }),
        Result: Row,
        execute: ({ name, reason }) => sql`
          UPDATE domains SET
            status_before = CASE WHEN status = 'disabled' THEN status_before ELSE status END,
            status = 'disabled',
            disabled_reason = ${reason}
          WHERE name = ${name} AND (
            verified_at IS NOT NULL
            OR NOT EXISTS (SELECT 1 FROM domains holder WHERE holder.name = ${name} AND holder.verified_at IS NOT NULL)
          )
          RETURNING *
        `
      })

      const updateEnabled = SqlSchema.findAll({
        Request: DomainName,
        Result: Row,
        execute: (name) => sql`
          UPDATE domains SET status = status_before, status_before = NULL, disabled_reason = NULL
          WHERE name = ${name} AND status = 'disabled'
          RETURNING *
        `
      })

      const deleteHolder = SqlSchema.findAll({
        Request: DomainName,
        Result: Row,
        execute: (name) => sql`DELETE FROM domains WHERE name = ${name} AND verified_at IS NOT NULL RETURNING *`
      })

      const notFound = new NotFound({ message: "No such domain in this workspace" })

      const get = Effect.fn("Domains.get")(function* (owned: Owned) {
        const [row] = yield* Effect.orDie(selectOwned(owned))
        return row === undefined ? yield* notFound : toDomain(row)
      })

      const create = Effect.fn("Domains.create")(function* (workspaceId: WorkspaceId, name: DomainName) {
        if (isWithin(name, platform.domain)) {
          return yield* new Invalid({
            message: `domain: ${platform.domain} belongs to this service; POST /api/instant-inbox gives an address on it`
          })
        }
        const id = DomainId.make(yield* random.uuidV7())
        const token = Buffer.from(yield* random.randomBytes(16)).toString("hex")
        return yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* checkRoom(workspaceId, name)
              return yield* insert({ id, workspaceId, name, origin: "byo", txtValue: `service_verify_${token}` })
            })
          )
          .pipe(
            Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die }),
            Effect.flatMap(([row]) => (row === undefined ? Effect.die("no domain row inserted") : Effect.succeed(row))),
            Effect.map(toDomain)
          )
      })

      const instantInbox = Effect.fn("Domains.instantInbox")(function* (workspaceId: WorkspaceId) {
        const id = DomainId.make(yield* random.uuidV7())
        const name = yield* PlatformName.make(random, platform.domain)
        const [existing] = yield* selectInstant(workspaceId)
        if (existing !== undefined) return { domain: toDomain(existing), existing: true }
        // Of two requests at once one inserts, the other finds what it did.
        const [inserted] = yield* insert({ id, workspaceId, name, origin: "instant", txtValue: null })
        if (inserted !== undefined) return { domain: toDomain(inserted), existing: false }
        const [first] = yield* selectInstant(workspaceId)
        return first === undefined ? yield* Effect.die("no instant inbox") : { domain: toDomain(first), existing: true }
      }, Effect.orDie)

      const markVerified = Effect.fn("Domains.markVerified")(function* (owned: Owned) {
        const [row] = yield* updateVerified(owned).pipe(
          Effect.catchReason(
            "SqlError",
            "UniqueViolation",
            () =>
              new Conflict({
                message:
                  "Another workspace holds this name. Its owner has to delete it there before it can be verified here"
              }),
            Effect.die
          ),
          Effect.catchTag("SchemaError", Effect.die)
        )
        return row === undefined ? yield* get(owned) : toDomain(row)
      })

      const setWebhook = Effect.fn("Domains.setWebhook")(function* (owned: Owned, url: string | null) {
        const change = Effect.gen(function* () {
          const [row] = yield* updateWebhook({ ...owned, url })
          if (row === undefined) return undefined
          yield* url === null
            ? sql`UPDATE deliveries SET status = 'held', leased_until = NULL WHERE domain_id = ${row.id} AND status = 'pending'`
            : // Whoever mends the URL wants to see the mail now.
              sql`UPDATE deliveries SET due_at = now() WHERE domain_id = ${row.id} AND status = 'pending' AND due_at > now()`
          return row
        })
        const row = yield* Effect.orDie(sql.withTransaction(change))
        if (row !== undefined) {
          yield* Effect.orDie(Pausing.resume(sql, row.id))
          return toDomain({ ...row, webhookPausedAt: null })
        }
        const domain = yield* get(owned)
        return yield* new Conflict({
          message:
            domain.status === "disabled"
              ? `${domain.domain} is disabled: ${domain.disabled_reason}`
              : `${domain.domain} is not verified yet: publish its TXT record and POST /api/domains/${domain.id}/verify first`
        })
      })

      // What this leaves behind has no row any more, and the sweeper takes it.
      const removeRaw = (id: DomainId) =>
        raw
          .removeDomain(id)
          .pipe(
            Effect.catchTag("RawStoreError", (error) =>
              Effect.logWarning("Raw messages of a deleted domain are still there", error)
            )
          )

      const remove = Effect.fn("Domains.remove")(function* ({ id, workspaceId }: Owned) {
        const rows = yield* Effect.orDie(
          sql`DELETE FROM domains WHERE id = ${id} AND workspace_id = ${workspaceId} RETURNING id`
        ).pipe(Patience.forMuch)
        if (rows.length === 0) return yield* notFound
        yield* removeRaw(id)
      })

      const removeHolder = Effect.fn("Domains.removeHolder")(function* (name: DomainName) {
        const [row] = yield* Effect.orDie(Patience.forMuch(deleteHolder(name)))
        if (row === undefined) return yield* new NotFound({ message: `Nobody holds ${name}` })
        yield* removeRaw(row.id)
        return toDomain(row)
      })

      const disable = Effect.fn("Domains.disable")(function* (name: DomainName, reason: string) {
        const rows = yield* Effect.orDie(updateDisabled({ name, reason }))
        return rows.length === 0 ? yield* unknownName(name) : rows.map(toDomain)
      })

      const enable = Effect.fn("Domains.enable")(function* (name: DomainName) {
        const rows = yield* Effect.orDie(updateEnabled(name))
        return rows.length === 0 ? yield* unknownName(name) : rows.map(toDomain)
      })

      return Domains.of({
        create,
        instantInbox,
        list: Effect.fn("Domains.list")((workspaceId) =>
          Effect.orDie(Effect.map(selectOf(workspaceId), (rows) => rows.map(toDomain)))
        ),
        get,
        markVerified,
        setWebhook,
        remove,
        listAll: Effect.suspend(() => selectEvery()).pipe(
          Effect.map((rows) => rows.map(toDomain)),
          Effect.orDie,
          Effect.withSpan("Domains.listAll")
        ),
        disable,
        removeHolder,
        enable
      })
    })
  )
}

const unknownName = (name: DomainName) => new NotFound({ message: `No domain ${name} to change` })
