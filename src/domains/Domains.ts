import { Context, Effect, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { SealedCredentials } from "../delivery/formats/SealedCredentials.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import { Domain, DomainId, type DomainName, noSuchDomain, takingMail } from "../model/Domain.ts"
import * as Page from "../model/Page.ts"
import type { SpamAction } from "../model/Spam.ts"
import { catchAllOf } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as WebhookTarget from "../webhooks/WebhookTarget.ts"
import * as WebhookWire from "../webhooks/WebhookWire.ts"
import { txtName } from "./DnsRecords.ts"
import * as DomainLimit from "./DomainLimit.ts"
import { isWithin } from "./DomainNames.ts"
import type { DomainRow, Owned } from "./DomainRows.ts"
import * as DomainRows from "./DomainRows.ts"
import * as PlatformName from "./PlatformName.ts"
import * as PurchasedRows from "./PurchasedRows.ts"

/** A domain, with the signing key of its webhook's format if that was just made. */
interface WithKey {
  readonly domain: Domain
  readonly signingKey: Redacted.Redacted | undefined
}

/** Manages the domains at which customers receive mail, and their states (spec, section 3). */
export class Domains extends Context.Service<
  Domains,
  {
    /**
     * Registers an own domain to be verified. The name is canonical. One that the workspace bought and deleted is
     * attached and verified without its doing, as after the purchase.
     */
    create(workspaceId: WorkspaceId, name: DomainName): Effect.Effect<Domain, Invalid | Conflict | SqlError>
    /** The instant inbox of the workspace on the platform domain. The first call creates it. */
    instantInbox(
      workspaceId: WorkspaceId
    ): Effect.Effect<{ readonly domain: Domain; readonly existing: boolean }, SqlError>
    /** Newest first. `cursor` is the id of the last domain of the page before. Without a workspace, those of all. */
    list(
      wanted: Partial<DomainRows.Wanted>,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page.Page<Domain>, Invalid | SqlError>
    /** Up to `limit` domains of a workspace, those that take mail first, and the number of the others. */
    foremost(
      wanted: Partial<DomainRows.Wanted> & { readonly workspaceId: WorkspaceId },
      limit: number
    ): Effect.Effect<{ readonly domains: ReadonlyArray<Domain>; readonly others: number }, SqlError>
    get(owned: Owned): Effect.Effect<Domain, NotFound | SqlError>
    /** The same, if it takes mail, and so may have webhooks. */
    taking(owned: Owned): Effect.Effect<Domain, NotFound | Conflict | SqlError>
    /** Records the proof of ownership: pending_verification → mx_pending. Later states stay unchanged. */
    markVerified(owned: Owned): Effect.Effect<Domain, NotFound | Conflict | SqlError>
    /**
     * Sets or clears the webhook of the catch-all. Clearing holds undelivered mail. The current URL resumes a paused
     * webhook, and otherwise changes nothing.
     */
    setWebhook(
      owned: Owned,
      url: string | null,
      wire?: WebhookWire.Asked
    ): Effect.Effect<WithKey, NotFound | Conflict | Invalid | SqlError>
    /** Turns pull delivery on or off. Off holds undelivered mail. Requires a domain without a webhook. */
    setPull(owned: Owned, pull: boolean): Effect.Effect<Domain, NotFound | Conflict | SqlError>
    /** Sets what becomes of spam and viruses. Counts for mail that comes from now on, at a busy domain within a second. */
    setSpam(owned: Owned, action: SpamAction): Effect.Effect<Domain, NotFound | SqlError>
    /** Removes the domain. Its mail and events are removed in the background. */
    remove(owned: Owned): Effect.Effect<void, NotFound | SqlError>
    /** For operators: the row that holds the name, or else every pending one. */
    disable(name: DomainName, reason: string): Effect.Effect<ReadonlyArray<Domain>, NotFound | SqlError>
    /** For operators: removes the domain with its mail from its holder, so that another workspace can verify it. */
    removeHolder(name: DomainName): Effect.Effect<Domain, NotFound | SqlError>
    /** Restores the earlier state. */
    enable(name: DomainName): Effect.Effect<ReadonlyArray<Domain>, NotFound | SqlError>
  }
>()("inlet/domains/Domains") {
  static readonly layer = Layer.effect(
    Domains,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = DomainRows.make(sql)
      const random = yield* SecureRandom.SecureRandom
      const platform = yield* Settings.platform
      const checkRoom = yield* DomainLimit.make
      const wires = yield* WebhookWire.make

      const toDomain = ({ name, txtValue, ...row }: DomainRow) =>
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
          webhookFormat: row.webhookFormat,
          webhookBasicAuth: row.webhookBasicAuth,
          webhook_paused_at: row.webhookPausedAt,
          pull: row.catchAll === "pull",
          catch_all: row.catchAll,
          spam: row.spamAction,
          created_at: row.createdAt,
          verified_at: row.verifiedAt,
          live_at: row.liveAt
        })

      const list: Domains["Service"]["list"] = Effect.fn("Domains.list")(function* (wanted, { cursor, limit }) {
        const before = yield* Page.idIn(DomainId)(cursor)
        const found = yield* rows.selectPage({ ...DomainRows.every, ...wanted, before, limit: limit + 1 })
        const { items, nextCursor } = Page.of(found, limit)
        return { items: items.map(toDomain), nextCursor }
      })

      const foremost: Domains["Service"]["foremost"] = Effect.fn("Domains.foremost")(function* (wanted, limit) {
        const domains = (yield* rows.selectForemost({ ...DomainRows.every, ...wanted, limit })).map(toDomain)
        const others = domains.length < limit ? 0 : (yield* rows.count({ ...DomainRows.every, ...wanted })) - limit
        return { domains, others }
      })

      const get = Effect.fn("Domains.get")(function* (owned: Owned) {
        const [row] = yield* rows.selectOwned(owned)
        return row === undefined ? yield* noSuchDomain : toDomain(row)
      })

      const create = Effect.fn("Domains.create")(function* (workspaceId: WorkspaceId, name: DomainName) {
        if (isWithin(name, platform.domain)) {
          return yield* new Invalid({
            message: `domain: ${platform.domain} belongs to this service. POST /api/instant-inbox creates an address on it`
          })
        }
        const id = DomainId.make(yield* random.uuidV7())
        const token = Buffer.from(yield* random.randomBytes(16)).toString("hex")
        return yield* sql
          .withTransaction(
            Effect.gen(function* () {
              const txtValue = `service_verify_${token}`
              yield* checkRoom(workspaceId, name)
              const [bought] = yield* PurchasedRows.takeBack(sql, { id, workspaceId, name, txtValue })
              if (bought !== undefined) return yield* rows.selectOwned({ id, workspaceId })
              return yield* rows.insert({ id, workspaceId, name, origin: "byo", txtValue })
            })
          )
          .pipe(
            // Of another workspace, which finds that the name is sold.
            Effect.catchReason(
              "SqlError",
              "UniqueViolation",
              () => new Conflict({ message: `Another order for ${name} is in progress. Retry in a minute` })
            ),
            Effect.flatMap(([row]) => (row === undefined ? Effect.die("no domain row inserted") : Effect.succeed(row))),
            Effect.map(toDomain)
          )
      })

      const instantInbox = Effect.fn("Domains.instantInbox")(function* (workspaceId: WorkspaceId) {
        const id = DomainId.make(yield* random.uuidV7())
        const name = yield* PlatformName.make(random, platform.domain)
        const [existing] = yield* rows.selectInstant(workspaceId)
        if (existing !== undefined) return { domain: toDomain(existing), existing: true }
        // Of two concurrent requests one inserts, and the other finds its row.
        const [inserted] = yield* rows.insert({ id, workspaceId, name, origin: "instant", txtValue: null })
        if (inserted !== undefined) return { domain: toDomain(inserted), existing: false }
        const [first] = yield* rows.selectInstant(workspaceId)
        return first === undefined ? yield* Effect.die("no instant inbox") : { domain: toDomain(first), existing: true }
      })

      const markVerified = Effect.fn("Domains.markVerified")(function* (owned: Owned) {
        const [row] = yield* rows.updateVerified(owned).pipe(
          Effect.catchReason(
            "SqlError",
            "UniqueViolation",
            () =>
              new Conflict({
                message:
                  "Another workspace holds this domain. Remove it there before you verify it here, or contact the operator"
              })
          )
        )
        return row === undefined ? yield* get(owned) : toDomain(row)
      })

      /** A domain that takes mail, and so may have webhooks. */
      const taking = Effect.fn("Domains.taking")(function* (owned: Owned) {
        const domain = yield* get(owned)
        return takingMail.includes(domain.status) ? domain : yield* unfit(domain)
      })

      const setWebhook: Domains["Service"]["setWebhook"] = Effect.fn("Domains.setWebhook")(function* (
        owned,
        url,
        asked = {}
      ) {
        const id = catchAllOf((yield* taking(owned)).id)
        const signingKey = yield* sql.withTransaction(
          Effect.gen(function* () {
            if (url === null) return void (yield* WebhookTarget.change(sql, id, { action: "hold", url }))
            const { madeKey, wire } = yield* wires.resolve(id, yield* WebhookWire.locked(sql, id), asked)
            yield* WebhookTarget.change(sql, id, { action: "webhook", url, wire })
            return madeKey
          })
        )
        yield* Pausing.resume(sql, id)
        return { domain: yield* get(owned), signingKey }
      })

      const setPull = Effect.fn("Domains.setPull")(function* (owned: Owned, pull: boolean) {
        const id = catchAllOf((yield* taking(owned)).id)
        yield* sql.withTransaction(
          Effect.gen(function* () {
            // A webhook that is set meanwhile keeps its URL.
            yield* WebhookWire.locked(sql, id)
            const domain = yield* get(owned)
            if (domain.catch_all === "webhook") return pull ? yield* hasWebhook(domain.id) : undefined
            // Turning off what is off succeeds.
            if (!pull && !domain.pull) return
            yield* WebhookTarget.change(sql, id, { action: pull ? "pull" : "hold", url: null })
          })
        )
        return yield* get(owned)
      })

      const setSpam = Effect.fn("Domains.setSpam")(function* (owned: Owned, spamAction: SpamAction) {
        const [row] = yield* rows.updateSpamAction({ ...owned, spamAction })
        return row === undefined ? yield* noSuchDomain : toDomain(row)
      })

      const remove = Effect.fn("Domains.remove")(function* ({ id, workspaceId }: Owned) {
        const deleted = yield* sql.withTransaction(
          Effect.andThen(
            // In the order of a webhook's change, which tells the row of the domain.
            sql`
              SELECT 1 FROM webhooks JOIN domains ON domains.id = domain_id
              WHERE domain_id = ${id} AND workspace_id = ${workspaceId} ORDER BY webhooks.id FOR UPDATE OF webhooks
            `,
            sql`DELETE FROM domains WHERE id = ${id} AND workspace_id = ${workspaceId} RETURNING id`
          )
        )
        if (deleted.length === 0) return yield* noSuchDomain
      })

      const removeHolder = Effect.fn("Domains.removeHolder")(function* (name: DomainName) {
        const [row] = yield* rows.deleteHolder(name)
        if (row === undefined) return yield* new NotFound({ message: `No workspace holds ${name}` })
        return toDomain(row)
      })

      const disable = Effect.fn("Domains.disable")(function* (name: DomainName, reason: string) {
        const changed = yield* rows.updateDisabled({ name, reason })
        return changed.length === 0 ? yield* unknownName(name) : changed.map(toDomain)
      })

      const enable = Effect.fn("Domains.enable")(function* (name: DomainName) {
        const changed = yield* rows.updateEnabled(name)
        return changed.length === 0 ? yield* unknownName(name) : changed.map(toDomain)
      })

      return Domains.of({
        create,
        instantInbox,
        list,
        foremost,
        get,
        taking,
        markVerified,
        setWebhook,
        setPull,
        setSpam,
        remove,
        disable,
        removeHolder,
        enable
      })
    })
  ).pipe(Layer.provide(SealedCredentials.layer))
}

const hasWebhook = (id: DomainId) =>
  new Conflict({
    message: `This domain has a webhook, and its mail goes there. To lease it instead, remove the webhook first: PATCH /api/domains/${id}/delivery {"webhookUrl": null}`
  })

/** Why mail of a domain cannot be delivered. */
const unfit = (domain: Domain) =>
  new Conflict({
    message:
      domain.status === "disabled"
        ? `${domain.domain} is disabled: ${domain.disabled_reason}`
        : domain.origin === "purchased"
          ? `${domain.domain} is not verified yet. That is done by itself once DNS has its records, within minutes; ask again then`
          : `${domain.domain} is not verified yet: publish its TXT record and POST /api/domains/${domain.id}/verify first`
  })

const unknownName = (name: DomainName) => new NotFound({ message: `No domain ${name} exists` })
