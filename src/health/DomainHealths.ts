import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { areCut, attempts, WebhookHealth } from "../delivery/WebhookHealth.ts"
import * as WorkspaceUsage from "../domains/WorkspaceUsage.ts"
import { type Domain, DomainId } from "../model/Domain.ts"
import { simulatedAddress } from "../model/InboundEmail.ts"
import { catchAllOf } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import { DomainStatistics } from "../statistics/DomainStatistics.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import * as DeliveryChecks from "./DeliveryChecks.ts"
import * as DnsChecks from "./DnsChecks.ts"
import { DnsLook } from "./DnsLook.ts"
import { type DomainHealth, type HealthCheck, summary, worst } from "./HealthCheck.ts"
import * as MailChecks from "./MailChecks.ts"
import { MailHost } from "./MailHost.ts"
import * as MailHostChecks from "./MailHostChecks.ts"
import * as Readiness from "./Readiness.ts"

const Last = Schema.Struct({
  receivedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  remoteAddress: Schema.NullOr(Schema.String),
  statusCode: Schema.NullOr(Schema.Int),
  isRelayed: Schema.Boolean,
  attemptsCut: Schema.Boolean,
  deadCut: Schema.Boolean
})

/** Checks of mail to every address, which a key with a limit does not see. */
const aboutAllMail: ReadonlySet<HealthCheck["check"]> = new Set(["webhook", "quota", "last_mail", "refusals"])

/** Checks everything that mail of a domain needs, from its DNS records to its webhook. */
export class DomainHealths extends Context.Service<
  DomainHealths,
  {
    /** `isLimited` leaves out the checks that look at mail to all addresses. */
    of(workspaceId: WorkspaceId, domain: Domain, isLimited: boolean): Effect.Effect<DomainHealth, SqlError>
  }
>()("inlet/health/DomainHealths") {
  static readonly layer = Layer.effect(
    DomainHealths,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mailHost = yield* MailHost
      const dns = yield* DnsLook
      const webhooks = yield* WebhookHealth
      const webhooksOf = yield* Webhooks
      const statistics = yield* DomainStatistics
      const usage = yield* WorkspaceUsage.make
      const { emailsPerDay } = yield* Settings.limits
      const canStore = Effect.isSuccess(yield* Readiness.make("service"))

      /** The newest event by index, the last failure of the catch-all, which has the domain's id, whether a relay has a key, and what the figures leave out. */
      const last = SqlSchema.findOne({
        Request: Schema.Struct({ id: DomainId, workspaceId: WorkspaceId }),
        Result: Last,
        execute: ({ id, workspaceId }) => sql`
          SELECT event.received_at, event.remote_address, (
            SELECT status_code FROM (${attempts(sql, id)}) AS recent WHERE NOT ok LIMIT 1
          ) AS status_code, EXISTS (
            SELECT 1 FROM workspace_keys
            WHERE workspace_id = ${workspaceId} AND scope = 'ingest' AND coalesce(domain_id, ${id}) = ${id}
          ) AS is_relayed, ${areCut(sql, id)}
          FROM (VALUES (1)) AS one
          LEFT JOIN LATERAL (
            SELECT events.received_at, inbound_emails.remote_address
            FROM events JOIN inbound_emails ON inbound_emails.id = events.inbound_email_id
            WHERE events.domain_id = ${id} ORDER BY position DESC LIMIT 1
          ) AS event ON true
        `
      })

      const of = Effect.fn("DomainHealths.of")(function* (
        workspaceId: WorkspaceId,
        domain: Domain,
        isLimited: boolean
      ) {
        const { id } = domain
        const outside = Effect.all([mailHost.look, dns.at(workspaceId, domain.domain, domain.txt_name)], {
          concurrency: 2
        })
        const stored = Effect.all([
          last({ id, workspaceId }),
          webhooks.of(catchAllOf(id)),
          webhooks.failing(catchAllOf(id)),
          statistics.of(id, 1),
          usage(workspaceId),
          webhooksOf.list(id),
          canStore
        ])
        const [[host, found], [newest, health, failing, [today], used, all, isStored]] = yield* Effect.all(
          [outside, stored],
          {
            concurrency: 2
          }
        )
        const now = yield* Clock.currentTimeMillis
        const { attemptsCut, deadCut, isRelayed, receivedAt, remoteAddress, statusCode } = newest
        const hosts = DnsChecks.hosts(domain, found)
        const isElsewhere = isRelayed && !hosts.some(({ ours }) => ours)
        const ofAll = [
          MailChecks.state(domain),
          ...DnsChecks.txt(domain, found),
          ...DnsChecks.mx(domain, found, { ...host, isRelayed }),
          ...MailHostChecks.of(host, now, isElsewhere),
          ...MailChecks.storage(isStored),
          DeliveryChecks.webhook(domain, { health, failing, lastStatus: statusCode, attemptsCut, deadCut }),
          ...DeliveryChecks.others(all),
          MailChecks.quota(used.emailsToday, emailsPerDay),
          MailChecks.lastMail(
            domain,
            receivedAt === null ? null : { receivedAt, isSimulated: remoteAddress === simulatedAddress }
          ),
          MailChecks.refusals(domain, today?.refused ?? [])
        ]
        const checks = isLimited ? ofAll.filter(({ check }) => !aboutAllMail.has(check)) : ofAll
        return {
          domain: domain.domain,
          status: worst(checks),
          summary: summary(domain.domain, checks),
          checks,
          mx_hosts: hosts,
          mx_hosts_left_out: found.mx._tag === "Success" ? found.mx.success.length - hosts.length : 0
        }
      }, Bugs.die)

      return DomainHealths.of({ of })
    })
  ).pipe(Layer.provide([MailHost.layer, DnsLook.layer, Webhooks.layer]))
}
