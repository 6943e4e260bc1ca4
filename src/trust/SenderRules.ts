import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as EarlierVersion from "../database/EarlierVersion.ts"
import { Conflict, Invalid, type NotFound } from "../model/ApiError.ts"
import { DomainId } from "../model/Domain.ts"
import { mostRules, noSuchRule, RuleInForce, SenderRule, SenderRuleId } from "../model/SenderRule.ts"
import { noSuchWebhook, WebhookId } from "../model/Webhook.ts"
import * as RuleValue from "./RuleValue.ts"

/** A rule to be made. */
export type Draft = Pick<SenderRule, "webhook_id" | "list" | "match" | "value" | "action" | "note">

const Row = Schema.Struct({
  ...RuleInForce.fields,
  domainId: DomainId,
  note: Schema.NullOr(Schema.String),
  createdAt: Schema.DateTimeUtcFromDate
})

const columns = "id, webhook_id, list, match, value, action, domain_id, note, created_at"

/** Manages who may write to a domain. Callers have checked that the domain belongs to the workspace. */
export class SenderRules extends Context.Service<
  SenderRules,
  {
    /** In the order of their creation. */
    list(domainId: DomainId): Effect.Effect<ReadonlyArray<SenderRule>, SqlError>
    /** Counts for mail that comes from now on, at a busy domain within a second. */
    create(domainId: DomainId, draft: Draft): Effect.Effect<SenderRule, Conflict | Invalid | NotFound | SqlError>
    /**
     * Lets an author write to the addresses of a webhook: by the rule that there is, or a new one, of the webhook if it
     * has allow rules of its own.
     */
    allow(
      domainId: DomainId,
      author: string,
      webhookId: WebhookId | undefined
    ): Effect.Effect<SenderRule, Conflict | Invalid | NotFound | SqlError>
    remove(domainId: DomainId, id: SenderRuleId): Effect.Effect<void, NotFound | SqlError>
  }
>()("inlet/trust/SenderRules") {
  static readonly layer = Layer.effect(
    SenderRules,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const shown = sql.literal(columns)
      const find = SqlSchema.findAll({
        Request: DomainId,
        Result: Row,
        execute: (domainId) => sql`SELECT ${shown} FROM sender_rules WHERE domain_id = ${domainId} ORDER BY id`
      })
      const ofDomain = (domainId: DomainId) => Bugs.die(find(domainId))

      const create: SenderRules["Service"]["create"] = Effect.fn("SenderRules.create")(function* (domainId, draft) {
        const { action, list, match, note } = draft
        // As the database writes it.
        const webhook_id = draft.webhook_id && WebhookId.make(draft.webhook_id.toLowerCase())
        const value = RuleValue.canonical(match, draft.value)
        if (value === undefined)
          return yield* new Invalid({ message: `value: ${RuleValue.expected(match, draft.value)}` })
        if (action === "reject" && (list === "allow" || match === "author")) {
          return yield* new Invalid({ message: `action: ${onlyHolds}` })
        }
        yield* EarlierVersion.refuse(sql)
        const id = SenderRuleId.make(yield* random.uuidV7())
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            // Waits for other changes, so that they are counted.
            yield* sql`SELECT 1 FROM domains WHERE id = ${domainId} FOR NO KEY UPDATE`
            const others = yield* ofDomain(domainId)
            if (others.length >= mostRules) return yield* new Conflict({ message: tooMany })
            const same = others.find(
              (other) => other.match === match && other.value === value && other.webhookId === webhook_id
            )
            if (same !== undefined) {
              return yield* new Conflict({
                message: `The rule ${same.id} says ${same.list} for ${value} already. Remove it first to change it`
              })
            }
            const made = yield* sql`
              INSERT INTO sender_rules (id, domain_id, webhook_id, list, match, value, action, note)
              SELECT ${id}, ${domainId}, ${webhook_id}::uuid, ${list}, ${match}, ${value}, ${action}, ${note}
              WHERE ${webhook_id}::uuid IS NULL
                OR EXISTS (SELECT 1 FROM webhooks WHERE id = ${webhook_id}::uuid AND domain_id = ${domainId})
              RETURNING id
            `
            if (made.length === 0) return yield* noSuchWebhook
            const [row] = (yield* ofDomain(domainId)).filter((one) => one.id === id)
            return row === undefined ? yield* Effect.die("no row of a sender rule inserted") : toRule(row)
          })
        )
      })

      const allow: SenderRules["Service"]["allow"] = Effect.fn("SenderRules.allow")(
        function* (domainId, author, webhookId) {
          const allowing = (yield* ofDomain(domainId)).filter(({ list }) => list === "allow")
          const isOwn = allowing.some((rule) => rule.webhookId !== null && rule.webhookId === webhookId)
          const webhook_id = isOwn && webhookId !== undefined ? webhookId : null
          const value = RuleValue.canonical("author", author)
          const known = allowing.find(
            (rule) => rule.match === "author" && rule.value === value && rule.webhookId === webhook_id
          )
          if (known !== undefined) return toRule(known)
          return yield* create(domainId, {
            webhook_id,
            list: "allow",
            match: "author",
            value: author,
            action: "hold",
            note: null
          })
        }
      )

      const remove: SenderRules["Service"]["remove"] = Effect.fn("SenderRules.remove")(function* (domainId, id) {
        const gone = yield* sql`DELETE FROM sender_rules WHERE domain_id = ${domainId} AND id = ${id} RETURNING id`
        if (gone.length === 0) return yield* noSuchRule
      })

      return SenderRules.of({
        list: Effect.fn("SenderRules.list")((domainId: DomainId) =>
          Effect.map(ofDomain(domainId), (rows) => rows.map(toRule))
        ),
        create,
        allow,
        remove
      })
    })
  )
}

const toRule = ({ createdAt, domainId, webhookId, ...row }: typeof Row.Type) =>
  new SenderRule({ ...row, webhook_id: webhookId, domain_id: domainId, created_at: createdAt })

const onlyHolds =
  "Expected hold. Only a block rule about an envelope or a network can reject, because an author is confirmed after the session"

const tooMany = `A domain has at most ${mostRules} sender rules. Remove one, or let one take a whole domain or network`
