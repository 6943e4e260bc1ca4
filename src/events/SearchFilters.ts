import type { SqlClient, Statement } from "effect/sql"
import * as DomainNames from "../domains/DomainNames.ts"
import type { KindName } from "../model/MailKind.ts"
import type { SpamVerdict } from "../model/Spam.ts"
import * as Traits from "../model/Traits.ts"

export interface Filter {
  readonly has?: "code" | "link" | "attachment" | undefined
  /** The author's domain or its parent, confirmed by DMARC, in canonical form. */
  readonly fromDomain?: string | undefined
  /** Contained in the subject, case-insensitive. */
  readonly subject?: string | undefined
  /** Contained in the recipient or the sender, case-insensitive. */
  readonly recipientPart?: string | undefined
  readonly fromPart?: string | undefined
  readonly tag?: string | undefined
  readonly thread?: string | undefined
  readonly kind?: KindName | undefined
  readonly spam?: SpamVerdict | undefined
  readonly sender?: Parameters<typeof Traits.ofSender>[0] | undefined
}

/** The conditions of filters that examine events one by one, beside the code, which has an index. */
export const make = (sql: SqlClient.SqlClient) => {
  const searched = ({ fromDomain, fromPart, has, kind, recipientPart, sender, spam, subject, tag, thread }: Filter) => [
    // A literal, because PostgreSQL can choose a partial index only for a known bit.
    ...(has === undefined ? [] : [hasBit(Traits.bits[has])]),
    ...(sender === undefined
      ? []
      : [sql`events.traits & ${sql.literal(`${Traits.senderBits}`)} = ${Traits.ofSender(sender)}::int`]),
    ...(kind === undefined
      ? []
      : [sql`events.traits & ${sql.literal(`${Traits.kindBits}`)} = ${Traits.ofKind(kind)}::int`]),
    ...(spam === undefined
      ? []
      : [sql`events.traits & ${sql.literal(`${Traits.verdictBits}`)} = ${Traits.ofVerdict(spam)}::int`]),
    ...(fromDomain === undefined
      ? []
      : [
          hasBit(Traits.bits.dmarcPass),
          sql.or(
            DomainNames.spellings(fromDomain).map(
              (name) =>
                sql`right('.' || substring(lower(events.sender) FROM '[^@]*$'), ${[...name].length + 1}) = ${`.${name}`}`
            )
          )
        ]),
    ...(subject === undefined ? [] : [sql`position(lower(${subject}) IN lower(events.subject)) > 0`]),
    ...(recipientPart === undefined ? [] : [contains(sql`events.recipient`, recipientPart)]),
    ...(fromPart === undefined ? [] : [contains(sql`events.sender`, fromPart)]),
    ...(tag === undefined ? [] : [sql`${tagOf} = lower(${tag})`]),
    ...(thread === undefined ? [] : [sql`events.thread_id = ${thread}::uuid`])
  ]

  const contains = (address: Statement.Fragment, part: string) =>
    sql.or(DomainNames.spellings(part).map((text) => sql`position(lower(${text}) IN lower(${address})) > 0`))

  const hasBit = (bit: number) => {
    const text = sql.literal(`${bit}`)
    return sql`events.traits & ${text} = ${text}`
  }

  // As in the event: after the first plus of the local part, without quotes.
  const tagOf = sql`substring(
    regexp_replace(substring(lower(events.recipient) FROM '^(.*)@[^@]*$'), '^"(.*)"$', '\\1') FROM '^[^+]*[+](.+)$'
  )`

  return searched
}
