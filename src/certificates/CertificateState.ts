import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import * as Settings from "../Settings.ts"

/** The certificate that Inlet orders, for the operator. */
export const CertificateState = Schema.Struct({
  host: Schema.String,
  authority: Schema.String.annotate({ description: "the host of `ACME_DIRECTORY`" }),
  not_before: Schema.NullOr(Schema.DateTimeUtcFromString),
  not_after: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description: "null before the first certificate, while the mail server has a self-signed one"
  }),
  renew_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({ description: "when Inlet orders the next one" }),
  attempted_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  next_attempt_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description: "set while the last attempts failed"
  }),
  failures: Schema.Int.annotate({ description: "failed attempts since the last certificate" }),
  problem: Schema.NullOr(Schema.String).annotate({ description: "why the last attempt failed, and what to do" })
}).annotate({ identifier: "CertificateState" })

const At = Schema.NullOr(Schema.DateTimeUtcFromDate)

const Row = Schema.Struct({
  notBefore: At,
  notAfter: At,
  renewAt: At,
  attemptedAt: At,
  nextAttemptAt: At,
  failures: Schema.Int,
  problem: Schema.NullOr(Schema.String)
})

const nothingYet: typeof Row.Type = {
  notBefore: null,
  notAfter: null,
  renewAt: null,
  attemptedAt: null,
  nextAttemptAt: null,
  failures: 0,
  problem: null
}

/** An effect that reads the state. Null without `ACME_DIRECTORY`. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const settings = yield* Settings.certificates
  if (settings === undefined) return Effect.succeed(null)
  const { directory, mxHost } = settings

  const find = SqlSchema.findOneOption({
    Request: Schema.Void,
    Result: Row,
    execute: () => sql`
      SELECT not_before, not_after, renew_at, attempted_at, failures, problem,
        CASE WHEN failures > 0 THEN attempted_at + make_interval(secs => pause_seconds) END AS next_attempt_at
      FROM certificates WHERE host = ${mxHost} AND directory = ${directory}
    `
  })
  return Effect.map(Bugs.die(find()), (found) => {
    const row = Option.getOrElse(found, () => nothingYet)
    return {
      host: mxHost,
      authority: new URL(directory).host,
      not_before: row.notBefore,
      not_after: row.notAfter,
      renew_at: row.renewAt,
      attempted_at: row.attemptedAt,
      next_attempt_at: row.nextAttemptAt,
      failures: row.failures,
      problem: row.problem
    }
  })
})
