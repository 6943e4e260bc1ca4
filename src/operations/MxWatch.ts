import { Context, DateTime, type Duration, Effect, Layer, Schema } from "effect"
import { Dns } from "effect/net"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { Asker } from "../database/Turns.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Ledger from "./Ledger.ts"

/** Domains of one round, and seconds between the rounds of all processes. */
const mostAtOnce = 100
const turnSeconds = 10

/** Minutes until the next look at a domain, and at one whose record is missing. */
const lookMinutes = 15
const missingMinutes = 5

/** Minutes that a record is missing before it counts as lost. Less than the interval, which varies. */
const confirmMinutes = 4

/** Minutes in which a record that is missing comes before the others of its workspace. */
const hurryMinutes = 60

/** Domains that wait longest, among which workspaces take turns. With more a round would cost the database seconds. */
const mostCompared = 20_000

/** Hosts that an event lists. */
const mostHosts = 10

/** How often a process asks for its turn. Tests shorten it. */
export const Interval = Context.Reference<Duration.Input>("inlet/operations/MxWatch/Interval", {
  defaultValue: () => `${turnSeconds} seconds`
})

const State = Schema.Literals(["unseen", "seen", "missing", "lost"])
type State = typeof State.Type

const Watched = Schema.Struct({
  domainId: DomainId,
  domain: DomainName,
  workspaceId: WorkspaceId,
  state: State,
  /** It was missing some minutes ago already. */
  isConfirmed: Schema.Boolean
})
type Watched = typeof Watched.Type

/**
 * Makes an effect that looks at the MX records of the domains that are due, if it is the turn of this process. Reports a
 * record that was there and is missing twice, some minutes apart, and its return. A failure of DNS changes nothing.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const dns = yield* Dns.Dns
  const record = yield* Ledger.make
  const { mxHost } = yield* Settings.platform

  /** The next look is set first, so that a crash costs one look. */
  const claim = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Watched,
    execute: () => sql`
      WITH turn AS (
        UPDATE mx_watch_turns SET next_at = now() + make_interval(secs => ${turnSeconds})
        -- An idle service writes nothing.
        WHERE next_at <= now() AND EXISTS (SELECT FROM mx_watches WHERE mx_watches.next_at <= now())
        RETURNING 1
      ), due AS (
        SELECT domain_id FROM mx_watches
        WHERE domain_id = ANY(ARRAY(
          -- Of each workspace in turn, so that one with very many domains does not delay the others.
          SELECT domain_id FROM (
            SELECT domain_id, next_at, row_number() OVER (
              PARTITION BY workspace_id
              -- What is missing is confirmed first, but not for ever if its loss can't be recorded.
              ORDER BY state = 'missing' AND missing_at > now() - make_interval(mins => ${hurryMinutes}) DESC, next_at
            ) AS place
            FROM (
              SELECT domain_id, state, missing_at, next_at FROM mx_watches
              WHERE next_at <= now() AND EXISTS (SELECT FROM turn)
              ORDER BY next_at LIMIT ${mostCompared}
            ) AS longest JOIN domains ON domains.id = domain_id
          ) AS due
          ORDER BY place, next_at LIMIT ${mostAtOnce}
        ))
        FOR UPDATE SKIP LOCKED
      ), looked AS (
        UPDATE mx_watches SET next_at = now() + make_interval(mins => ${lookMinutes})
        FROM due WHERE mx_watches.domain_id = due.domain_id
        RETURNING mx_watches.*
      )
      SELECT domain_id, name AS domain, workspace_id, state,
        coalesce(missing_at <= now() - make_interval(mins => ${confirmMinutes}), false) AS is_confirmed
      FROM looked JOIN domains ON domains.id = domain_id
      WHERE verified_at IS NOT NULL AND status <> 'disabled'
    `
  })

  /** The hosts of the MX records now. Undefined if DNS did not answer. */
  const hostsOf = (domain: DomainName) =>
    dns.resolve(domain, "MX").pipe(
      Effect.map((records) => records.map(({ exchange }) => exchange.replace(/\.$/, "").toLowerCase())),
      Effect.catch(({ reason }) =>
        Effect.succeed<ReadonlyArray<string> | undefined>(reason === "NotFound" ? [] : undefined)
      )
    )

  const change = ({ domainId, state }: Watched, next: State) => sql`
    UPDATE mx_watches SET
      state = ${next}, missing_at = CASE WHEN ${next === "missing"}::boolean THEN now() END,
      next_at = CASE WHEN ${next === "missing"}::boolean
        THEN now() + make_interval(mins => ${missingMinutes}) ELSE next_at END
    WHERE domain_id = ${domainId} AND state = ${state}
  `

  /** In one transaction. If this hour has such an event already, the state stays, and the next look tries again. */
  const report = (watched: Watched, next: "seen" | "lost", hosts: ReadonlyArray<string>) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const { domain, domainId, workspaceId } = watched
        const observed = hosts.slice(0, mostHosts)
        const message =
          next === "seen"
            ? `The MX record of ${domain} names ${mxHost} again. Mail arrives here again`
            : `The MX record of ${domain} no longer names ${mxHost}, so its mail does not arrive here. ${observed.length === 0 ? "It has no MX record" : `It names ${observed.join(", ")}`}. Publish it again: GET /api/domains/${domainId}/mx`
        const isRecorded = yield* record({
          workspaceId,
          domainId,
          details: {
            type: next === "seen" ? "domain.mx_returned" : "domain.mx_lost",
            occurred_at: yield* DateTime.now,
            domain_id: domainId,
            domain,
            expected: mxHost,
            observed,
            message
          }
        })
        if (isRecorded) yield* change(watched, next)
      })
    )

  const look = Effect.fn("MxWatch.look")(function* (watched: Watched) {
    const hosts = yield* hostsOf(watched.domain)
    if (hosts === undefined) return
    const { isConfirmed, state } = watched
    if (hosts.includes(mxHost)) {
      if (state === "lost") return yield* report(watched, "seen", hosts)
      if (state !== "seen") yield* change(watched, "seen")
      return
    }
    if (state === "seen") yield* change(watched, "missing")
    if (state === "missing" && isConfirmed) yield* report(watched, "lost", hosts)
  })

  return Effect.gen(function* () {
    const watched = yield* Bugs.die(claim())
    yield* Effect.forEach(
      watched,
      (one) => BackgroundLoop.survive("The look at an MX record failed. Inlet looks again", look(one)),
      { concurrency: 8, discard: true }
    )
  })
})

/** Looks at MX records while the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const round = yield* make
    yield* BackgroundLoop.every(
      yield* Interval,
      { says: "Looking at MX records failed. Inlet looks again", level: "Warn" },
      Effect.provideService(round, Asker, "operations")
    )
  })
)
