import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { HeavyReads } from "../database/HeavyReads.ts"
import * as DomainNames from "../domains/DomainNames.ts"
import type { Invalid } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import { noSuchCursor } from "../model/Page.ts"
import { Refusals } from "../refusals/Refusals.ts"
import * as Routes from "../webhooks/routes/Routes.ts"
import * as NothingFound from "./NothingFound.ts"
import * as TraceCursor from "./TraceCursor.ts"
import * as TracedMail from "./TracedMail.ts"
import * as TraceEntries from "./TraceEntries.ts"
import type { TraceEntry } from "./TraceEntry.ts"
import * as TraceSearch from "./TraceSearch.ts"

/** Domains of a search without a recipient, the newest ones. */
export const mostDomains = 1_000

const onlyNewest = `This searched the newest ${mostDomains.toLocaleString("en")} domains. Name the recipient, or its domain, to search another: to=example.com`

export interface Asked extends Omit<TraceSearch.Wanted, "to"> {
  /** An address, or a domain. */
  readonly to?: string | undefined
}

export interface TracePage {
  readonly entries: ReadonlyArray<TraceEntry>
  readonly nextCursor: string | null
  /** Why nothing was found, or where nothing was searched, and what to do. Null if there is nothing to say. */
  readonly hint: string | null
}

/** Finds what became of mail: its whole way, or why it was refused. */
export class Traces extends Context.Service<
  Traces,
  {
    /** Newest first. A page may have fewer entries than `limit`, and even none, before its cursor ends. */
    search(
      scope: TraceSearch.Scope,
      asked: Asked,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<TracePage, Invalid | SqlError>
  }
>()("inlet/trace/Traces") {
  static readonly layer = Layer.effect(
    Traces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const refusals = yield* Refusals
      const searchMail = yield* TraceSearch.make
      const traced = yield* TracedMail.make
      const explain = yield* NothingFound.make
      const heavy = yield* HeavyReads

      const domainsOf = (scope: TraceSearch.Scope, name: string | undefined) =>
        Effect.map(
          sql<{ readonly id: DomainId }>`
            SELECT id FROM domains
            WHERE ${sql.and([
              ...(scope === "all" ? [] : [sql`workspace_id = ${scope.workspaceId}`]),
              ...(scope === "all" || scope.limit?.domainId == null ? [] : [sql`id = ${scope.limit.domainId}`]),
              ...(name === undefined ? [] : [sql`name = ${name}`])
            ])}
            ORDER BY id DESC LIMIT ${mostDomains + 1}
          `,
          (rows) => rows.map(({ id }) => id)
        )

      const refused = (
        scope: TraceSearch.Scope,
        domainIds: ReadonlyArray<DomainId> | "all",
        wanted: TraceSearch.Wanted,
        limit: number
      ) => {
        const { behind, from, messageId, only, since, subject, to, until } = wanted
        return refusals.search({
          scope,
          ...(domainIds === "all" ? {} : { domainIds }),
          ...(from === undefined ? {} : from.includes("@") ? { from } : { fromDomain: from }),
          messageId,
          recipient: to,
          subject,
          only,
          since,
          until,
          before: behind === undefined ? undefined : TraceCursor.idBound(behind),
          limit
        })
      }

      const search: Traces["Service"]["search"] = Effect.fn("Traces.search")(function* (
        scope,
        { to, ...asked },
        { cursor, limit }
      ) {
        const place = cursor === undefined ? undefined : yield* placeOf(cursor)
        const name = to === undefined ? undefined : DomainNames.canonical(to.slice(to.lastIndexOf("@") + 1))
        const isOfAll = scope === "all" && name === undefined
        const known = isOfAll ? ("all" as const) : yield* domainsOf(scope, name)
        const isPart = known !== "all" && known.length > mostDomains
        const domainIds = known === "all" ? known : known.slice(0, mostDomains)
        const wanted = {
          ...asked,
          only: scope === "all" ? undefined : scope.limit?.pattern,
          to: to?.includes("@") ? DomainNames.ofAddress(to) : undefined,
          behind: place,
          until: place === undefined ? asked.until : earliest(place.at, asked.until)
        }
        const { cut, mails } = yield* heavy.within(searchMail(domainIds, wanted, limit + 1))
        const found = yield* refused(scope, domainIds, wanted, limit + 1)
        const ids = (kind: TraceSearch.FoundMail["kind"]) =>
          mails.flatMap((mail) => (mail.kind === kind ? [mail.id] : []))
        /** A mail as the key may see it, without recipients that its pattern does not take. */
        const seen = <M extends TracedMail.UnreadMail>(mail: M): M => ({
          ...mail,
          recipients: mail.recipients.filter((recipient) => isSeen(scope, recipient))
        })
        const entries = [
          ...(yield* traced.read(ids("event"))).map((mail) => TraceEntries.ofRead(seen(mail))),
          ...(yield* traced.unread(ids("unread"))).map((mail) => TraceEntries.ofUnread(seen(mail))),
          ...found.refusals.map(TraceEntries.ofRefusal)
        ].map((entry) => ({ entry, place: placeAt(entry) }))
        const bound = boundOf([cut === null ? null : DateTime.fromDateUnsafe(cut), found.cut])
        const sorted = entries
          .filter(({ place: own }) => place === undefined || TraceCursor.isBehind(place, own))
          // What is older than the cut comes with what the next search finds there.
          .filter(({ place: own }) => bound === undefined || !TraceCursor.isBehind(bound, own))
          .sort((a, b) => TraceCursor.newestFirst(a.place, b.place))
        const shown = sorted.slice(0, limit)
        const last = sorted.length > limit ? shown.at(-1)?.place : bound
        return {
          entries: shown.map(({ entry }) => entry),
          nextCursor: last === undefined ? null : TraceCursor.encode(last),
          // On each page, because few look at the last one.
          hint: isPart
            ? onlyNewest
            : last !== undefined || shown.length > 0
              ? null
              : yield* explain(scope, domainIds, { ...wanted, to })
        }
      })

      return Traces.of({ search })
    })
  ).pipe(Layer.provide([HeavyReads.layer, Refusals.layer]))
}

const placeAt = (entry: TraceEntry): TraceCursor.Place => ({ at: entry.at, id: idOf(entry) })

/** The cursor for the entries after this one. */
export const cursorAfter = (entry: TraceEntry): string => TraceCursor.encode(placeAt(entry))

const isSeen = (scope: TraceSearch.Scope, recipient: string) =>
  scope === "all" || scope.limit === null || Routes.takes(scope.limit.pattern, Routes.localPartOf(recipient))

/** How far back all searches went. */
const boundOf = (cuts: ReadonlyArray<DateTime.Utc | null>) => {
  const reached = cuts.flatMap((cut) => cut ?? [])
  const [first, ...others] = reached
  return first === undefined ? undefined : TraceCursor.upTo(others.reduce<DateTime.Utc>(DateTime.max, first))
}

const placeOf = (cursor: string) =>
  Option.match(TraceCursor.decode(cursor), {
    onNone: () => Effect.fail(noSuchCursor),
    onSome: Effect.succeed
  })

const earliest = (a: DateTime.Utc, b: DateTime.Utc | undefined) => (b === undefined ? a : DateTime.min(a, b))

const idOf = ({ event_id, inbound_email_id, refusal_id }: TraceEntry): string =>
  event_id ?? refusal_id ?? inbound_email_id ?? ""
