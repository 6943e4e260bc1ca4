import { Context, Effect, Layer, Record, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as EarlierVersion from "../database/EarlierVersion.ts"
import { SealedCredentials } from "../delivery/formats/SealedCredentials.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, Invalid, type NotFound } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import type { ReplayId } from "../model/Replay.ts"
import {
  catchAll,
  catchAllOf,
  mostWebhooks,
  noSuchWebhook,
  Webhook,
  type WebhookAction,
  WebhookId,
  type WebhookKinds
} from "../model/Webhook.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as SigningSecret from "../workspaces/SigningSecret.ts"
import * as Routes from "./routes/Routes.ts"
import * as WebhookRows from "./WebhookRows.ts"
import * as WebhookTarget from "./WebhookTarget.ts"
import * as WebhookWire from "./WebhookWire.ts"

/** A webhook to be made. The URL is set for the action `webhook` only. */
export interface Draft extends Omit<WebhookTarget.Target, "wire"> {
  readonly pattern: string
  /** The format and the credentials beside a URL. */
  readonly wire: WebhookWire.Asked
  readonly description: string | null
  readonly kinds: WebhookKinds
}

/** Whose secret signs the requests of a webhook. */
export type SecretOwner = "own" | "workspace"

/** A webhook, with its secret and the signing key of its format if they were just made. */
export interface Changed {
  readonly webhook: Webhook
  readonly secret: Redacted.Redacted | undefined
  readonly signingKey: Redacted.Redacted | undefined
}

/** Manages the webhooks of a domain. Callers have checked that the domain belongs to the workspace and takes mail. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** In the order in which they count, the catch-all last. */
    list(domainId: DomainId): Effect.Effect<ReadonlyArray<Webhook>, SqlError>
    get(domainId: DomainId, id: WebhookId): Effect.Effect<Webhook, NotFound | SqlError>
    create(domainId: DomainId, draft: Draft, secret: SecretOwner): Effect.Effect<Changed, Conflict | Invalid | SqlError>
    /** Changes what is given. Mail that is under way stays with this webhook. */
    update(
      domainId: DomainId,
      id: WebhookId,
      change: Partial<Draft> & { readonly secret?: SecretOwner | undefined }
    ): Effect.Effect<Changed, Conflict | Invalid | NotFound | SqlError>
    /** Replaces the webhook's own secret. The old one also signs for 24 h. */
    rotateSecret(domainId: DomainId, id: WebhookId): Effect.Effect<Redacted.Redacted, Conflict | NotFound | SqlError>
    /** Removes a webhook other than the catch-all, and holds its undelivered mail. */
    remove(domainId: DomainId, id: WebhookId): Effect.Effect<void, Conflict | NotFound | SqlError>
  }
>()("inlet/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([SecretsKey.layer, SealedCredentials.layer]))
}

const toWebhook = (row: WebhookRows.WebhookRow) =>
  new Webhook({
    id: row.id,
    domain_id: row.domainId,
    pattern: row.pattern,
    action: row.action,
    webhookUrl: row.url,
    format: row.format,
    basicAuth: row.basicAuth,
    description: row.description,
    kinds: row.kinds,
    has_own_secret: row.hasOwnSecret,
    created_at: row.createdAt,
    failing_since: row.failingSince,
    paused_at: row.pausedAt
  })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const secrets = yield* SecretsKey
  const rows = WebhookRows.make(sql)
  const wires = yield* WebhookWire.make

  /** Waits for other changes of the domain's webhooks, so that no two of them make a tie, and none names a removed one. */
  const locked = (domainId: DomainId) =>
    Effect.andThen(
      sql`SELECT 1 FROM webhooks WHERE id = ${catchAllOf(domainId)} FOR NO KEY UPDATE`,
      rows.ofDomain(domainId)
    )

  const find = Effect.fnUntraced(function* (domainId: DomainId, id: WebhookId) {
    const [row] = yield* rows.get({ domainId, id })
    return row === undefined ? yield* noSuchWebhook : row
  })

  /** Gives a webhook a secret of its own, and returns it. Part of a transaction. */
  const giveSecret = Effect.fnUntraced(function* (domainId: DomainId, id: WebhookId) {
    const secret = yield* SigningSecret.make(random)
    const sealed = yield* secrets.seal(secret, id)
    yield* rows.setSecret({ domainId, id, secret: sealed, overlapHours: SigningSecret.previousHours })
    return secret
  })

  /** The format and the credentials after a change. They stay without a new URL, and go with the URL. */
  const wireOf = Effect.fnUntraced(function* (id: WebhookId, url: string | null, change: Partial<Draft>) {
    if (url === null) return { wire: WebhookWire.plain, madeKey: undefined }
    const before = yield* WebhookWire.locked(sql, id)
    return typeof change.url === "string"
      ? yield* wires.resolve(id, before, change.wire ?? {})
      : { wire: before, madeKey: undefined }
  })

  const changed = Effect.fnUntraced(function* (domainId: DomainId, id: WebhookId, made: Omit<Changed, "webhook">) {
    return { webhook: toWebhook(yield* find(domainId, id)), ...made }
  })

  const create: Webhooks["Service"]["create"] = Effect.fn("Webhooks.create")(function* (domainId, draft, owner) {
    const pattern = draft.pattern.toLowerCase()
    const kinds = inSmall(draft.kinds)
    const id = WebhookId.make(yield* random.uuidV7())
    yield* EarlierVersion.refuse(sql)
    const { madeKey: signingKey, wire } = yield* wires.resolve(id, WebhookWire.plain, draft.wire)
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        const others = yield* locked(domainId)
        if (others.length >= mostWebhooks) {
          return yield* new Conflict({
            message: `A domain has at most ${mostWebhooks} webhooks. Remove one, or let one pattern take several addresses`
          })
        }
        yield* checkTies(pattern, others)
        yield* checkKinds(kinds, others)
        const [row] = yield* rows.insert({ ...draft, ...wire, kinds, pattern, id, domainId })
        if (row === undefined) return yield* Effect.die("no row of a webhook inserted")
        if (owner === "workspace") return { webhook: toWebhook(row), secret: undefined, signingKey }
        const secret = yield* giveSecret(domainId, id)
        return { webhook: toWebhook({ ...row, hasOwnSecret: true }), secret, signingKey }
      })
    )
  })

  const update: Webhooks["Service"]["update"] = Effect.fn("Webhooks.update")(function* (domainId, id, change) {
    if (change.kinds !== undefined) yield* EarlierVersion.refuse(sql)
    const result = yield* sql.withTransaction(
      Effect.gen(function* () {
        const all = yield* locked(domainId)
        const before = all.find((other) => other.id === id)
        if (before === undefined) return yield* noSuchWebhook
        const pattern = change.pattern?.toLowerCase() ?? before.pattern
        if (pattern !== before.pattern) {
          if (before.pattern === catchAll) return yield* new Conflict({ message: keepsPattern })
          yield* checkTies(
            pattern,
            all.filter((other) => other !== before)
          )
        }
        const description = change.description === undefined ? before.description : change.description
        const kinds = change.kinds === undefined ? before.kinds : inSmall(change.kinds)
        if (change.kinds !== undefined) {
          yield* checkKinds(
            kinds,
            all.filter((other) => other !== before)
          )
        }
        yield* rows.describe({ domainId, id, pattern, description, kinds })
        const action: WebhookAction = change.action ?? before.action
        if (change.action === "reject") yield* checkNamed(id, all)
        const url = action === "webhook" ? (change.url ?? before.url) : null
        if (action === "webhook" && url === null) return yield* new Conflict({ message: needsUrl })
        const { madeKey, wire } = yield* wireOf(id, url, change)
        yield* WebhookTarget.change(sql, id, { action, url, wire })
        if (change.secret === "workspace") {
          yield* rows.setSecret({ domainId, id, secret: null, overlapHours: SigningSecret.previousHours })
        }
        const isNew = change.secret === "own" && !before.hasOwnSecret
        return { secret: isNew ? yield* giveSecret(domainId, id) : undefined, signingKey: madeKey }
      })
    )
    // Also the URL that it has already resumes it.
    if (change.url !== undefined || change.action !== undefined) yield* Pausing.resume(sql, id)
    return yield* changed(domainId, id, result)
  })

  const rotateSecret: Webhooks["Service"]["rotateSecret"] = Effect.fn("Webhooks.rotateSecret")(
    function* (domainId, id) {
      // A change to the secret of the workspace, made meanwhile, must not be undone.
      const before = (yield* locked(domainId)).find((webhook) => webhook.id === id)
      if (before === undefined) return yield* noSuchWebhook
      return before.hasOwnSecret ? yield* giveSecret(domainId, id) : yield* new Conflict({ message: sharesSecret })
    },
    (rotation) => sql.withTransaction(rotation)
  )

  const remove: Webhooks["Service"]["remove"] = Effect.fn("Webhooks.remove")(function* (domainId, id) {
    yield* sql.withTransaction(
      Effect.gen(function* () {
        const before = (yield* locked(domainId)).find((webhook) => webhook.id === id)
        if (before === undefined) return yield* noSuchWebhook
        if (before.pattern === catchAll) return yield* new Conflict({ message: staysThere })
        // A job that starts meanwhile has a lock on it.
        yield* sql`SELECT 1 FROM webhooks WHERE domain_id = ${domainId} AND id = ${id} FOR UPDATE`
        const [job] = yield* sql<{ readonly id: ReplayId }>`
          SELECT id FROM replays WHERE domain_id = ${domainId} AND webhook_id = ${id} AND state = ${"running"}
        `
        if (job !== undefined) {
          return yield* new Conflict({
            message: `The replay ${job.id} sends mail to this webhook. Wait until it is done, or stop it with DELETE /api/domains/{id}/replays/${job.id}`
          })
        }
        // Attempts in progress keep the URL they went to.
        yield* WebhookTarget.change(sql, id, { action: "hold", url: null })
        yield* rows.forget({ domainId, id })
        yield* rows.remove({ domainId, id })
      })
    )
  })

  return Webhooks.of({
    list: Effect.fn("Webhooks.list")((domainId: DomainId) =>
      Effect.map(rows.ofDomain(domainId), (all) => Routes.inOrder(all).map(toWebhook))
    ),
    get: Effect.fn("Webhooks.get")((domainId: DomainId, id: WebhookId) => Effect.map(find(domainId, id), toWebhook)),
    create,
    update,
    rotateSecret,
    remove
  })
})

/** Refuses a pattern that could count the same as another for some address. */
const checkTies = (pattern: string, others: ReadonlyArray<WebhookRows.WebhookRow>) => {
  const tied = others.find((other) => Routes.couldTie(pattern, other.pattern))
  if (tied === undefined) return Effect.void
  return new Conflict({
    message:
      tied.pattern === pattern
        ? `The webhook ${tied.id} has the pattern ${pattern} already. Change that one with PATCH, or choose another pattern`
        : `An address could match both ${pattern} and ${tied.pattern}, the pattern of the webhook ${tied.id}, with as many literal characters each. Make one of them longer, or change that webhook`
  })
}

/** The ids as the database writes them. */
const inSmall = (kinds: WebhookKinds): WebhookKinds => Record.map(kinds, (id) => WebhookId.make(id.toLowerCase()))

/** Refuses kinds of mail that would go to no other webhook of the domain. */
const checkKinds = (kinds: WebhookKinds, others: ReadonlyArray<WebhookRows.WebhookRow>) => {
  for (const [kind, id] of Object.entries(kinds)) {
    const other = others.find((candidate) => candidate.id === id)
    if (other === undefined) {
      return new Invalid({
        message: `kinds.${kind}: Expected the id of another webhook of this domain. GET /api/domains/{id}/webhooks lists them`
      })
    }
    if (other.action === "reject") {
      return new Invalid({
        message: `kinds.${kind}: The webhook ${id} rejects mail, which is not possible once its kind is known. Give it the action hold, or choose another`
      })
    }
  }
  return Effect.void
}

/** Refuses to let a webhook reject while others leave kinds of mail to it, because a kind is known only after the 250. */
const checkNamed = (id: WebhookId, all: ReadonlyArray<WebhookRows.WebhookRow>) => {
  for (const { id: by, kinds, pattern } of all) {
    const kind = Object.entries(kinds).find(([, other]) => other === id)?.[0]
    if (kind !== undefined) {
      return new Conflict({
        message: `The webhook ${pattern} leaves mail of the kind ${kind} to this one, which cannot reject it once its kind is known. First choose another with PATCH /api/domains/{id}/webhooks/${by} and kinds, or give this one the action hold`
      })
    }
  }
  return Effect.void
}

const keepsPattern = "The catch-all keeps its pattern *. Create another webhook for other patterns"
const needsUrl = 'The action webhook needs a webhookUrl. Add one, or choose "pull", "hold" or "reject"'
const sharesSecret =
  'This webhook signs with the secret of the workspace. Give it one of its own with PATCH and {"secret": "own"}, or rotate that of the workspace with POST /api/workspaces/rotate-secret'
const staysThere =
  'A domain keeps its catch-all. To take no mail for other addresses, PATCH it with {"action": "reject"}'
