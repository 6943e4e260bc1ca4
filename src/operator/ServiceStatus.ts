import { statfs } from "node:fs/promises"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as CertificateState from "../certificates/CertificateState.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as ChangedSettings from "../settings/ChangedSettings.ts"
import { version } from "../Version.ts"
import * as ScannerState from "./ScannerState.ts"

/** Rows of a queue that are counted, at most. */
const mostCounted = 10_000

/** Failing webhooks that are listed, those that fail longest first. */
const mostWebhooks = 100

const FailingWebhook = Schema.Struct({
  workspace_id: WorkspaceId,
  workspace: WorkspaceName,
  domain_id: DomainId,
  domain: DomainName,
  pattern: Schema.String.annotate({ description: "the addresses that it takes. `*` is the catch-all" }),
  host: Schema.String,
  failing_since: Schema.DateTimeUtcFromString,
  paused_at: Schema.NullOr(Schema.DateTimeUtcFromString)
})

export const Status = Schema.Struct({
  version: Schema.String,
  node: Schema.String,
  mode: Schema.String,
  roles: Schema.Array(Schema.String),
  uptime_seconds: Schema.Int,
  memory_bytes: Schema.Int,
  database: Schema.Struct({
    kind: Schema.Literals(["embedded", "server"]),
    version: Schema.String,
    bytes: Schema.Int
  }),
  disks: Schema.Array(
    Schema.Struct({
      folder: Schema.String.annotate({ description: "the setting that names the folder" }),
      free_bytes: Schema.Int,
      total_bytes: Schema.Int
    })
  ),
  queues: Schema.Struct({
    unread: Schema.Int.annotate({ description: `stored mail without an event yet, counted up to ${mostCounted}` }),
    pending: Schema.Int,
    dead: Schema.Int,
    held: Schema.Int
  }).annotate({ description: `rows, each counted up to ${mostCounted}` }),
  certificate: Schema.NullOr(CertificateState.CertificateState).annotate({
    description: "the certificate that Inlet orders for the mail server. null without `ACME_DIRECTORY`"
  }),
  scanner: Schema.NullOr(ScannerState.ScannerState).annotate({
    description: "whether the mail scanner answers this process. null without `MAIL_SCANNER`"
  }),
  failing_webhooks: Schema.Array(FailingWebhook).annotate({ description: `up to ${mostWebhooks}` }),
  settings: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      value: Schema.NullOr(Schema.String).annotate({ description: "null for a secret" }),
      fallback: Schema.String
    })
  ).annotate({ description: "the settings that are set, in the order of the documentation" })
}).annotate({ identifier: "ServiceStatus" })
export type Status = typeof Status.Type

/** Collects queues, disks, database, scanner, failing webhooks and settings for the operator. */
export class ServiceStatus extends Context.Service<ServiceStatus, { readonly now: Effect.Effect<Status, SqlError> }>()(
  "inlet/operator/ServiceStatus"
) {
  static readonly layer = Layer.effect(
    ServiceStatus,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mode = yield* Settings.mode
      const roles = yield* Settings.roles
      const { dataDirectory } = yield* Settings.secrets
      const rawStore = yield* Settings.rawStore
      const folders = [
        { folder: "DATA_DIR", path: dataDirectory },
        ...(rawStore.kind === "file" ? [{ folder: "RAW_DIR", path: rawStore.folder }] : [])
      ]
      const settings = yield* ChangedSettings.of(Settings.documented)
      const certificate = yield* CertificateState.make
      const scanner = yield* ScannerState.make
      const startedAt = yield* Elapsed.millis

      const counted = (table: "inbound_emails" | "deliveries", condition: string) => sql`(
        SELECT count(*)::int FROM (
          SELECT 1 FROM ${sql(table)} WHERE ${sql.literal(condition)} LIMIT ${mostCounted}
        ) AS counted
      )`

      const figures = sql<{
        readonly version: string
        readonly isEmbedded: boolean
        readonly bytes: string
        readonly unread: number
        readonly pending: number
        readonly dead: number
        readonly held: number
      }>`
        SELECT current_setting('server_version') AS version,
          -- The embedded database is compiled to WebAssembly.
          version() LIKE '%emcc%' AS is_embedded,
          pg_database_size(current_database())::text AS bytes,
          ${counted("inbound_emails", "state = 'received'")} AS unread,
          ${counted("deliveries", "status = 'pending'")} AS pending,
          ${counted("deliveries", "status = 'dead'")} AS dead,
          ${counted("deliveries", "status = 'held'")} AS held
      `

      const failing = sql<{
        readonly workspaceId: WorkspaceId
        readonly workspace: WorkspaceName
        readonly domainId: DomainId
        readonly domain: DomainName
        readonly pattern: string
        readonly url: string
        readonly failingSince: Date
        readonly pausedAt: Date | null
      }>`
        SELECT workspaces.id AS workspace_id, workspaces.name AS workspace, domains.id AS domain_id,
          domains.name AS domain, pattern, url, failing_since, paused_at
        FROM webhooks
        JOIN domains ON domains.id = domain_id
        JOIN workspaces ON workspaces.id = workspace_id
        WHERE failing_since IS NOT NULL AND url IS NOT NULL
        ORDER BY failing_since LIMIT ${mostWebhooks}
      `

      const disks = Effect.forEach(folders, ({ folder, path }) =>
        Effect.tryPromise(() => statfs(path)).pipe(
          Effect.map(({ bavail, blocks, bsize }) => [
            { folder, free_bytes: bavail * bsize, total_bytes: blocks * bsize }
          ]),
          // A folder that does not exist yet has no figures.
          Effect.orElseSucceed(() => [])
        )
      ).pipe(Effect.map((all) => all.flat()))

      const now = Effect.gen(function* () {
        const [row] = yield* figures
        const webhooks = yield* failing
        return {
          version,
          node: process.version,
          mode,
          roles,
          uptime_seconds: Math.floor(((yield* Elapsed.millis) - startedAt) / 1_000),
          memory_bytes: process.memoryUsage.rss(),
          database: {
            kind: row?.isEmbedded === true ? ("embedded" as const) : ("server" as const),
            version: row?.version ?? "",
            bytes: Number(row?.bytes ?? 0)
          },
          disks: yield* disks,
          queues: {
            unread: row?.unread ?? 0,
            pending: row?.pending ?? 0,
            dead: row?.dead ?? 0,
            held: row?.held ?? 0
          },
          certificate: yield* certificate,
          scanner: yield* scanner,
          failing_webhooks: webhooks.map((webhook) => ({
            workspace_id: webhook.workspaceId,
            workspace: webhook.workspace,
            domain_id: webhook.domainId,
            domain: webhook.domain,
            pattern: webhook.pattern,
            host: new URL(webhook.url).host,
            failing_since: DateTime.fromDateUnsafe(webhook.failingSince),
            paused_at: webhook.pausedAt === null ? null : DateTime.fromDateUnsafe(webhook.pausedAt)
          })),
          settings
        }
      }).pipe(Effect.withSpan("ServiceStatus.now"))

      return ServiceStatus.of({ now })
    })
  )
}
