import { Duration } from "effect"
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
