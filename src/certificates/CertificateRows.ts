import { Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"

// The statements on `certificates`. The database's clock decides, because all processes share it. A clock that was set
// back leaves times in the future: leases and pauses that end too late count as over.

/** A host and the directory of its authority, which identify a row. */
export interface Place {
  readonly host: string
  readonly directory: string
}

/** The lease is extended during an order. Longer ones were made before the clock was set back. */
const leaseSeconds = 60

/** Between attempts of processes that end without an outcome. */
const leastPauseSeconds = 60

/** Authorities keep an order for about a week. After a day the certificate of a finished one is not worth a wait. */
const orderHours = 24

const Claimed = Schema.Struct({
  accountKey: Schema.NullOr(Schema.Uint8Array),
  orderKey: Schema.NullOr(Schema.Uint8Array),
  orderUrl: Schema.NullOr(Schema.String),
  failures: Schema.Int,
  /** Whether a certificate of this authority is in use. */
  isRenewal: Schema.Boolean
})
export type Claimed = typeof Claimed.Type

export const insert = (sql: SqlClient.SqlClient, { directory, host }: Place) => sql`
  INSERT INTO certificates (host, directory) VALUES (${host}, ${directory}) ON CONFLICT DO NOTHING
`

/** Leases the row if a certificate is due, for one process at a time. */
export const claim = (sql: SqlClient.SqlClient, { directory, host }: Place) =>
  SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Claimed,
    execute: (lease) => sql`
      UPDATE certificates SET
        lease = ${lease}::uuid, leased_until = now() + make_interval(secs => ${leaseSeconds}),
        attempted_at = now(), pause_seconds = ${leastPauseSeconds},
        order_key = CASE WHEN ordered_at > now() - make_interval(hours => ${orderHours}) THEN order_key END,
        order_url = CASE WHEN ordered_at > now() - make_interval(hours => ${orderHours}) THEN order_url END
      WHERE host = ${host} AND directory = ${directory}
        AND (leased_until IS NULL OR leased_until < now()
          OR leased_until > now() + make_interval(secs => ${2 * leaseSeconds}))
        AND (renew_at IS NULL OR renew_at <= now())
        AND (attempted_at IS NULL OR attempted_at + make_interval(secs => pause_seconds) <= now()
          OR attempted_at > now() + make_interval(secs => ${leaseSeconds}))
      RETURNING account_key, order_key, order_url, failures, chain IS NOT NULL AS is_renewal
    `
  })

/** Extends the lease. No row if another process has it. */
export const extend = (sql: SqlClient.SqlClient, { directory, host }: Place, lease: string) => sql`
  UPDATE certificates SET leased_until = now() + make_interval(secs => ${leaseSeconds})
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid RETURNING 1
`

/** Ends a lease without an outcome. Another process may continue at once. */
export const release = (sql: SqlClient.SqlClient, { directory, host }: Place, lease: string) => sql`
  UPDATE certificates SET lease = NULL, leased_until = NULL, pause_seconds = 0
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid
`

/** Stores the encrypted keys before the authority gets to know them. */
export const keep = (
  sql: SqlClient.SqlClient,
  { directory, host }: Place,
  lease: string,
  keys: { readonly account: Uint8Array; readonly order: Uint8Array }
) => sql`
  UPDATE certificates SET account_key = ${keys.account}, order_key = ${keys.order},
    ordered_at = CASE WHEN order_url IS NULL THEN now() ELSE ordered_at END
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid
`

export const begin = (sql: SqlClient.SqlClient, { directory, host }: Place, lease: string, orderUrl: string) => sql`
  UPDATE certificates SET order_url = ${orderUrl}, ordered_at = now()
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid
`

/** Replaces the certificate by that of the order. No row if another process has the lease. */
export const finish = (
  sql: SqlClient.SqlClient,
  { directory, host }: Place,
  lease: string,
  issued: {
    readonly chain: string
    readonly notBefore: Date
    readonly notAfter: Date
    readonly renewAt: Date
    readonly pauseSeconds: number
  }
) => sql`
  UPDATE certificates SET
    chain = ${issued.chain}, key = order_key, order_key = NULL, order_url = NULL, ordered_at = NULL,
    not_before = ${issued.notBefore}, not_after = ${issued.notAfter}, renew_at = ${issued.renewAt},
    attempted_at = now(), pause_seconds = ${issued.pauseSeconds}, failures = 0, problem = NULL,
    lease = NULL, leased_until = NULL
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid RETURNING 1
`

/** Notes why there is no certificate, and the time until the next attempt. The certificate in use stays. */
export const fail = (
  sql: SqlClient.SqlClient,
  { directory, host }: Place,
  lease: string,
  failure: {
    readonly problem: string
    readonly pauseSeconds: number
    /** Whether the next attempt goes on with the order at the authority. */
    readonly keepsOrder: boolean
    /** Whether it has the same account, to which its orders belong. */
    readonly keepsAccount: boolean
  }
) => sql`
  UPDATE certificates SET
    order_url = CASE WHEN ${failure.keepsOrder && failure.keepsAccount} THEN order_url END,
    account_key = CASE WHEN ${failure.keepsAccount} THEN account_key END,
    attempted_at = now(), pause_seconds = ${failure.pauseSeconds}, failures = failures + 1,
    problem = ${failure.problem}, lease = NULL, leased_until = NULL
  WHERE host = ${host} AND directory = ${directory} AND lease = ${lease}::uuid
`

/** The last process on an embedded database is gone, so its leases are void. */
export const endLeases = (sql: SqlClient.SqlClient) => sql`
  UPDATE certificates SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL
`

const InUse = Schema.Struct({
  directory: Schema.String,
  chain: Schema.String,
  key: Schema.Uint8Array
})

/** The certificate of a host: that of this authority, or else the last of another one. */
export const inUse = (sql: SqlClient.SqlClient, { directory, host }: Place) =>
  SqlSchema.findOneOption({
    Request: Schema.Void,
    Result: InUse,
    execute: () => sql`
      SELECT directory, chain, key FROM certificates WHERE host = ${host} AND chain IS NOT NULL
      ORDER BY directory = ${directory} DESC, not_after DESC LIMIT 1
    `
  })
