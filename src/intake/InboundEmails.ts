import { Effect, Predicate } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Batcher from "../database/Batcher.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Mail } from "../reading/Mail.ts"
import * as InboundRows from "./InboundRows.ts"
import * as LostAnswer from "./LostAnswer.ts"

/** A stored message for one recipient. */
export interface Accepted {
  readonly mail: Mail
  readonly recipient: string
  /** Log-safe text. */
  readonly envelope: Envelope
  /** The TLS version of the session, or null. */
  readonly tls: string | null
  /** Recognizes a retry. Null if the message is never treated as a retry. */
  readonly key: Uint8Array | null
  /** True if this process parses the message, and leases the row meanwhile. */
  readonly isOurs: boolean
}

/** `kept`: inserted. `seen`: a retry. `gone`: the domain was removed. `apart`: needs its own transaction. */
export type Acceptance = "kept" | "seen" | "gone" | "apart"

/** The columns of a row without its addresses. */
const rowBytes = 1_024

/**
 * True if a message had no room in its quota. Its retry key then has no message, so the constraint between them fails
 * and takes back the statement.
 */
export const isWithoutRoom = ({ reason }: SqlError): boolean =>
  reason._tag === "ConstraintError" &&
  Predicate.hasProperty(reason.cause, "constraint") &&
  reason.cause.constraint === "received_once_inbound_email_id_fkey"

/** The CTE `counted`: the workspaces that have room for all their messages. */
const counted = (sql: SqlClient.SqlClient, emailsPerDay: number) => {
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")
  return sql`
  , counted AS (
    INSERT INTO daily_intake AS counted (workspace_id, day, accepted)
    SELECT workspace_id, ${today}, count(*) FROM fresh GROUP BY workspace_id
    HAVING count(*) <= ${emailsPerDay} ORDER BY workspace_id
    ON CONFLICT (workspace_id, day) DO UPDATE SET accepted = counted.accepted + excluded.accepted
    WHERE counted.accepted + excluded.accepted <= ${emailsPerDay}
    RETURNING workspace_id
  )
`
}

/** The statement that inserts messages, and returns what became of each. */
const statement = (sql: SqlClient.SqlClient, { emailsPerDay }: { readonly emailsPerDay: number }) => {
  const kept = InboundRows.insert(sql, {
    recipients: sql`ARRAY[recipients]`,
    source: emailsPerDay > 0 ? sql`fresh JOIN counted USING (workspace_id)` : sql`fresh`
  })

  return (accepted: ReadonlyArray<Accepted>) =>
    sql<{ readonly ordinal: bigint; readonly state: Acceptance }>`
      WITH ${InboundRows.welcome(sql, accepted.map(rowOf))}, new_keys AS (
        INSERT INTO received_once AS before (key, inbound_email_id, received_at)
        SELECT key, id, now() FROM welcome WHERE key IS NOT NULL ORDER BY key
        ON CONFLICT (key) DO UPDATE SET inbound_email_id = excluded.inbound_email_id, received_at = now()
        WHERE before.received_at < now() - make_interval(days => ${InboundRows.retryDays})
        RETURNING inbound_email_id
      ), fresh AS (
        SELECT * FROM welcome WHERE key IS NULL OR id IN (SELECT inbound_email_id FROM new_keys)
      )
      ${emailsPerDay > 0 ? counted(sql, emailsPerDay) : sql.literal("")}
      , kept AS (
        ${kept}
      )
      SELECT input.ordinal, CASE
        WHEN kept.id IS NOT NULL THEN 'kept' WHEN welcome.id IS NULL THEN 'gone'
        WHEN fresh.id IS NOT NULL THEN 'apart' ELSE 'seen'
      END AS state
      FROM input LEFT JOIN welcome USING (ordinal) LEFT JOIN fresh USING (ordinal)
      LEFT JOIN kept ON kept.id = input.id
    `
}

/**
 * Inserts the rows of single-recipient messages, many in one statement and commit. If only some fit into a quota, all
 * become `apart`.
 */
export const make = Effect.fnUntraced(function* (options: { readonly emailsPerDay: number }) {
  const sql = yield* SqlClient.SqlClient
  const insert = statement(sql, options)

  const find = yield* LostAnswer.make
  /** Checks whether a row was committed after its statement got no answer. */
  const isCommitted = yield* Batcher.make<Accepted, boolean, never>(
    (lost) =>
      Effect.map(find(lost.map(({ mail }) => mail.id)), (rows) => {
        const there = new Set(rows.map(({ id }) => id))
        return lost.map(({ mail }) => there.has(mail.id))
      }),
    { bytesOf: () => rowBytes, isOutage: () => true, lanes: 8 }
  )

  const insertMany = yield* Batcher.make(
    (accepted: ReadonlyArray<Accepted>) => {
      const { own, placeOf } = withoutRepeats(accepted)
      return Effect.map(Patience.ofRequest(insert(own)), (rows) => {
        const states = own.map((): Acceptance => "gone")
        for (const { ordinal, state } of rows) states[Number(ordinal) - 1] = state
        return accepted.map((one): Acceptance => {
          const place = placeOf(one)
          const state = states[place] ?? "gone"
          return state === "kept" && own[place] !== one ? "seen" : state
        })
      }).pipe(
        Effect.withSpan("InboundEmails.insert", { attributes: { messages: accepted.length } }, Batcher.spanOptions)
      )
    },
    { bytesOf: () => rowBytes, isOutage: isUnreachable }
  )

  return (accepted: Accepted) =>
    Effect.catchIf(insertMany(accepted), isUnreachable, (error) =>
      Effect.flatMap(isCommitted(accepted), (isThere) =>
        isThere ? Effect.succeed<Acceptance>("kept") : Effect.fail(error)
      )
    )
})

/**
 * The messages without those that repeat one of the same batch. A statement that inserts a key twice fails, and each
 * message of its batch would have a commit of its own.
 */
const withoutRepeats = (accepted: ReadonlyArray<Accepted>) => {
  const places = new Map<Accepted | string, number>()
  const nameOf = (one: Accepted) => (one.key === null ? one : Buffer.from(one.key).toString("latin1"))
  const own = accepted.filter((one) => {
    const name = nameOf(one)
    if (places.has(name)) return false
    places.set(name, places.size)
    return true
  })
  return { own, placeOf: (one: Accepted) => places.get(nameOf(one)) ?? 0 }
}

const rowOf = ({ envelope, isOurs, key, mail, recipient, tls }: Accepted): InboundRows.InboundRow => ({
  id: mail.id,
  domainId: mail.domainId,
  recipients: recipient,
  key,
  sha256: mail.sha256,
  receivedAt: mail.receivedAt,
  envelope,
  tls,
  isOurs,
  place: mail.place,
  traceBytes: mail.traceBytes,
  authenticationResults: null
})
