import { Duration } from "effect"
import type * as PowerCut from "./PowerCut.ts"
import type * as Siege from "./Siege.ts"
import type * as Tenant from "./Tenant.ts"
import type { Verdict } from "./Trial.ts"

/** The verdicts as a table of Markdown, and the conditions they were reached under. */
export const render = (verdicts: ReadonlyArray<Verdict>, conditions: string): string =>
  [
    conditions,
    "",
    "| what was done under load | for, s | times | sent | answered 250 | sent again | delivered | lost | made two events | requests repeated | longest delay, s |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...verdicts.map(
      (verdict) =>
        `| ${verdict.title} | ${verdict.seconds} | ${verdict.times} | ${verdict.sent} | ${verdict.accepted} | ${verdict.retried} | ${verdict.delivered} | **${verdict.lost}** | **${verdict.doubled}** | ${verdict.repeated} | ${Duration.toSeconds(verdict.longestDelay).toFixed(1)} |`
    )
  ].join("\n")

const felt = ({ before, under }: Siege.Verdict, what: keyof Tenant.Felt) =>
  `${Math.round(under[what])} (${Math.round(before[what])})`

/** What a tenant felt beside an attack, and in brackets without it. */
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

/** The same of cuts. */
export const renderCuts = (verdicts: ReadonlyArray<PowerCut.Verdict>): string =>
  [
    "| the power is cut | database | answered 250 until then | lost |",
    "|---|---|--:|--:|",
    ...verdicts.flatMap(({ cuts, database }) =>
      cuts.map(({ accepted, lost, when }) => `| ${when} | ${databases[database]} | ${accepted} | **${lost.length}** |`)
    )
  ].join("\n")
