import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId } from "../src/model/Domain.ts"
import type { Answer } from "./ApiCall.ts"
import { eventually } from "./Eventually.ts"
import * as RawLog from "./RawLog.ts"
import * as SmtpDialog from "./SmtpDialog.ts"
import { TestInlet } from "./TestInlet.ts"

/** An inbox for tests: its id and the key of its workspace. */
export interface Inbox {
  readonly key: string
  readonly domainId: string
}

const bytesOf = (message: string | Uint8Array) => (typeof message === "string" ? Buffer.from(message) : message)

/** The wire form of a message after DATA: dot-stuffed (RFC 5321, section 4.5.2), with the final dot. */
export const wire = (message: string | Uint8Array): Buffer => {
  const text = Buffer.from(bytesOf(message)).toString("latin1")
  const stuffed = text.replace(/(^|\r\n)\./g, "$1..")
  return Buffer.from(`${stuffed}${stuffed.endsWith("\r\n") ? "" : "\r\n"}.\r\n`, "latin1")
}

/** Opens a session and names sender and recipients. `replies` are those to RCPT. */
export const begin = Effect.fnUntraced(function* (
  port: number,
  to: string | ReadonlyArray<string>,
  { from = "sender@sender.example", hello = "EHLO client.example", localAddress = "127.0.0.1", parameters = "" } = {}
) {
  const dialog = yield* SmtpDialog.open(port, { localAddress })
  yield* dialog.say(hello)
  const mail = yield* dialog.say(`MAIL FROM:<${from}>${parameters}`)
  const replies = yield* Effect.forEach([to].flat(), (address) => dialog.say(`RCPT TO:<${address}>`))
  return { ...dialog, mail, replies }
})

/** Sends DATA and the message in an open transaction. Returns the reply after the dot. */
export const data = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, message: string | Uint8Array) {
  const go = yield* dialog.say("DATA")
  if (!go.startsWith("354")) return go
  yield* dialog.write(wire(message))
  return yield* dialog.reply
})

/** Sends one message in a session of its own. Returns the reply after the dot. */
export const deliver = (
  port: number,
  to: string | ReadonlyArray<string>,
  message: string | Uint8Array,
  options?: Parameters<typeof begin>[2]
): Effect.Effect<string> => Effect.scoped(Effect.flatMap(begin(port, to, options), (dialog) => data(dialog, message)))

/** The events of a domain, oldest first, once every accepted message is parsed. */
export const events = Effect.fnUntraced(function* ({ domainId, key }: Inbox) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  yield* eventually(
    sql`SELECT 1 FROM inbound_emails WHERE domain_id = ${domainId} AND state = 'received'`,
    (rows) => rows.length === 0
  )
  const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/events?limit=100`, { key })
  return (json.events as ReadonlyArray<Answer["json"]>).toReversed()
})

/** The same in order of acceptance, because concurrent mails may be parsed in another order. */
export const accepted = (inbox: Inbox) =>
  Effect.map(events(inbox), (all) => all.toSorted((one, other) => one.receivedAt.localeCompare(other.receivedAt)))

/** The raw message of an event, from the API. */
export const raw = Effect.fnUntraced(function* ({ domainId, key }: Inbox, eventId: string) {
  const inlet = yield* TestInlet
  const { text } = yield* inlet.call("GET", `/api/domains/${domainId}/events/${eventId}/raw`, { key })
  return text
})

/** The ids of the stored messages of a domain: those with a row and bytes on disk. */
export const stored = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: string }>`SELECT id FROM inbound_emails WHERE domain_id = ${domainId}`
  const named = new Set(rows.map(({ id }) => id))
  return (yield* onDisk(domainId)).filter((id) => named.has(id))
})

/** The ids of all messages of a domain on disk, including refused and duplicate ones. */
export const onDisk = Effect.fnUntraced(function* (domainId: string) {
  const { folder } = yield* TestInlet
  return (yield* RawLog.records(`${folder}/raw`)).flatMap((record) => (record.domainId === domainId ? [record.id] : []))
})

/** A verified domain in a workspace of its own, created without the API. */
export const attach = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: string }>`
    WITH workspace AS (
      INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
      VALUES (gen_random_uuid(), 'test', sha256(gen_random_uuid()::text::bytea), '')
      RETURNING id
    )
    INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
    SELECT gen_random_uuid(), id, ${name}, 'byo', 'live', now() FROM workspace
    RETURNING id
  `
  return { domainId: DomainId.make(rows[0]?.id ?? ""), address: `someone@${name}` }
})

/** Today's message counter of a domain's workspace. */
export const acceptedToday = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly accepted: number }>`
    SELECT accepted FROM daily_intake JOIN domains USING (workspace_id)
    WHERE domains.id = ${domainId} AND day = (now() AT TIME ZONE 'UTC')::date
  `
  return rows[0]?.accepted ?? 0
})

/** Sets today's message counter of a domain's workspace. */
export const acceptToday = Effect.fnUntraced(function* (domainId: string, accepted: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO daily_intake (workspace_id, day, accepted)
    SELECT workspace_id, (now() AT TIME ZONE 'UTC')::date, ${accepted} FROM domains WHERE id = ${domainId}
    ON CONFLICT (workspace_id, day) DO UPDATE SET accepted = excluded.accepted
  `
})
