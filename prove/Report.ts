import { Duration } from "effect"
import type * as HarmTrial from "./HarmTrial.ts"
import type * as Neighbours from "./Neighbours.ts"
import type * as PowerCut from "./PowerCut.ts"
import type * as Siege from "./Siege.ts"
import type * as Tenant from "./Tenant.ts"
import type { Verdict } from "./Trial.ts"

/** Renders the verdicts as a Markdown table, with the conditions of the trial. */
export const render = (verdicts: ReadonlyArray<Verdict>, conditions: string): string =>
  [
    conditions,
    "",
    "| fault under load | for, s | times | sent | answered 250 | retried | delivered | lost | with two events | requests repeated | longest delay, s |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...verdicts.map(
      (verdict) =>
        `| ${verdict.title} | ${verdict.seconds} | ${verdict.times} | ${verdict.sent} | ${verdict.accepted} | ${verdict.retried} | ${verdict.delivered} | **${verdict.lost}** | **${verdict.doubled}** | ${verdict.repeated} | ${Duration.toSeconds(verdict.longestDelay).toFixed(1)} |`
    )
  ].join("\n")

const felt = ({ before, under }: Siege.Verdict, what: keyof Tenant.Felt) =>
  `${Math.round(under[what])} (${Math.round(before[what])})`

/** Renders the latencies of a tenant during an attack, and in parentheses without it. */
export const renderSieges = (verdicts: ReadonlyArray<Siege.Verdict>): string =>
  [
    "| attack | database | API p99, ms | SMTP p99, ms | delivery p99, ms | memory, MiB |",
    "|---|---|--:|--:|--:|--:|",
    ...verdicts.map(
      (verdict) =>
        `| ${verdict.title} | ${verdict.database === "server" ? "PostgreSQL" : "embedded"} | ${felt(verdict, "api")} | ${felt(verdict, "smtp")} | ${felt(verdict, "delivery")} | ${felt(verdict, "memory")} |`
    )
  ].join("\n")

const databases: Record<PowerCut.Database, string> = { embedded: "embedded", server: "PostgreSQL server" }

const ms = (value: number) => `${Math.round(value)}`

/** Renders the latencies of a neighbor: idle, while costly mails arrive, and while the API reads them. */
export const renderNeighbours = (verdicts: ReadonlyArray<Neighbours.Verdict>): string =>
  [
    "| beside | database | when | 250 p99, ms | webhook p50, ms | webhook p99, ms | max, ms | last event of the costly mails after, s | parsed |",
    "|---|---|---|--:|--:|--:|--:|--:|---|",
    ...verdicts.flatMap(({ database, events, parse, quiet, reading, sending, title }) =>
      (["quiet", "sending", "reading"] as const).map((when) => {
        const had = { quiet, sending, reading }[when]
        const figures = [had.replyP99, had.webhookP50, had.webhookP99, had.webhookMost].map(ms)
        const own =
          when === "sending"
            ? [
                ms(events / 1_000),
                Object.entries(parse)
                  .map(([how, many]) => `${many} ${how}`)
                  .join(", ")
              ]
            : ["", ""]
        return `| ${[title, databases[database], when, ...figures, ...own].join(" | ")} |`
      })
    )
  ].join("\n")

/** Renders the results of the power cuts. */
export const renderCuts = (verdicts: ReadonlyArray<PowerCut.Verdict>): string =>
  [
    "| power cut | database | answered 250 before | lost |",
    "|---|---|--:|--:|",
    ...verdicts.flatMap(({ cuts, database }) =>
      cuts.map(({ accepted, lost, when }) => `| ${when} | ${databases[database]} | ${accepted} | **${lost.length}** |`)
    )
  ].join("\n")

const spread = ({ median, most }: HarmTrial.Spread) => `${median.toFixed(1)} / ${most.toFixed(1)}`

/** Renders the trials of the cluster. Spreads are median and maximum. */
export const renderHarms = (verdicts: ReadonlyArray<HarmTrial.Verdict>, conditions: string): string =>
  [
    conditions,
    "",
    "| harm under load | for, s | times | sent | answered 250 | lost | with two events | answered 4xx | 5xx | no answer | gap, s | Patroni's own, s | beyond it, s | leases taken over |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...verdicts.map(
      (verdict) =>
        `| ${verdict.title} | ${verdict.seconds} | ${verdict.times} | ${verdict.sent} | ${verdict.accepted} | **${verdict.lost}** | **${verdict.doubled}** | ${verdict.refused} | ${verdict.bounced} | ${verdict.unanswered} | ${spread(verdict.gap)} | ${spread(verdict.own)} | ${spread(verdict.beyond)} | ${verdict.takenOver} of ${verdict.leases} |`
    )
  ].join("\n")
