import { useMemo } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import { call } from "../api/Api.ts"
import type { DayStatistics } from "../api/Contract.ts"
import { retryFailed, useLoaded } from "../api/Loaded.ts"
import { Problem } from "../frame/Dialog.tsx"
import { bytes, millis, number } from "../frame/Figures.ts"
import { Page } from "../frame/Page.tsx"
import { Skeleton } from "../frame/Skeleton.tsx"
import { Table } from "../frame/Table.tsx"
import { Chart, type Line } from "./Chart.tsx"

const spans = [7, 30, 90] as const

/** Charts the mail and deliveries of a domain by day. */
export const Statistics = () => {
  const { params, query } = useRoute()
  const { path, route } = useLocation()
  const domainId = params.domainId ?? ""
  const span = spans.find((days) => `${days}` === query.days) ?? 30
  const loaded = useLoaded(`${domainId} ${span}`, (signal) =>
    call("GET /api/domains/{id}/stats", { path: [domainId], query: { days: span }, signal })
  )
  const days = loaded.value.value?.days
  return (
    <Page
      title="Statistics"
      aside={
        <label class="switch">
          <span class="visually-hidden">Time</span>
          <select value={span} onChange={({ currentTarget }) => route(`${path}?days=${currentTarget.value}`, true)}>
            {spans.map((one) => (
              <option key={one} value={one}>
                {one} days
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Problem message={loaded.error.value} retry={retryFailed} />
      {days === undefined && loaded.error.value === undefined && <Skeleton lines={8} />}
      {days !== undefined && <Figures days={days} />}
      <p class="note">Days are UTC. Figures are counted once a minute, and attempts about a minute after they end.</p>
    </Page>
  )
}

type Figure = "accepted" | "bytes" | "held" | "spam" | "virus" | "unscanned" | "delivered" | "dead" | "failed"

const sum = (days: ReadonlyArray<DayStatistics>, name: Figure) => days.reduce((total, day) => total + day[name], 0)

/** Shown where they are not zero. */
const judged = [
  ["held", "Held"],
  ["spam", "Spam"],
  ["virus", "Viruses"],
  ["unscanned", "Not scanned"]
] as const

const refusedOn = ({ refused }: DayStatistics) => refused.reduce((total, { count }) => total + count, 0)

/** Refusals of all days by reason, most first. */
const byReason = (days: ReadonlyArray<DayStatistics>) => {
  const counts = new Map<string, number>()
  for (const { count, reason } of days.flatMap(({ refused }) => refused)) {
    counts.set(reason, (counts.get(reason) ?? 0) + count)
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

const Figures = ({ days }: { readonly days: ReadonlyArray<DayStatistics> }) => {
  const names = useMemo(() => days.map(({ day }) => day), [days])
  const mail = useMemo<ReadonlyArray<Line>>(
    () => [
      { name: "Accepted", color: "--accent", isBar: true, values: days.map(({ accepted }) => accepted) },
      { name: "Delivered", color: "--ink", values: days.map(({ delivered }) => delivered) },
      { name: "Dead", color: "--bad", values: days.map(({ dead }) => dead) },
      { name: "Refused", color: "--soft", values: days.map(refusedOn) }
    ],
    [days]
  )
  const times = useMemo<ReadonlyArray<Line>>(
    () => [
      { name: "p50", color: "--accent", values: days.map(({ p50_ms }) => p50_ms) },
      { name: "p99", color: "--soft", values: days.map(({ p99_ms }) => p99_ms) }
    ],
    [days]
  )
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Accepted</dt>
          <dd>{number(sum(days, "accepted"))}</dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{bytes(sum(days, "bytes"))}</dd>
        </div>
        <div>
          <dt>Delivered</dt>
          <dd>{number(sum(days, "delivered"))}</dd>
        </div>
        <div>
          <dt>Failed attempts</dt>
          <dd>{number(sum(days, "failed"))}</dd>
        </div>
        <div>
          <dt>Dead letters</dt>
          <dd>{number(sum(days, "dead"))}</dd>
        </div>
        {judged
          .filter(([name]) => sum(days, name) > 0)
          .map(([name, words]) => (
            <div key={name}>
              <dt>{words}</dt>
              <dd>{number(sum(days, name))}</dd>
            </div>
          ))}
        <div>
          <dt>Refused</dt>
          <dd>{number(days.reduce((total, day) => total + refusedOn(day), 0))}</dd>
        </div>
      </dl>
      <section class="card">
        <h2>Mail</h2>
        <Chart label="Mail by day" days={names} lines={mail} format={number} />
      </section>
      <section class="card">
        <h2>Time from receipt to 2xx</h2>
        {days.some(({ p50_ms }) => p50_ms !== null) ? (
          <Chart label="Delivery time by day" days={names} lines={times} format={millis} />
        ) : (
          <p class="note">No delivery succeeded in this time.</p>
        )}
      </section>
      {days.some((day) => refusedOn(day) > 0) && (
        <section class="card">
          <h2>Refused mail by reason</h2>
          <dl class="figures">
            {byReason(days).map(([reason, count]) => (
              <div key={reason}>
                <dt>{reason.replaceAll("_", " ")}</dt>
                <dd>{number(count)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      <details>
        <summary>Figures as a table</summary>
        <ByDay days={days} />
      </details>
    </>
  )
}

const ByDay = ({ days }: { readonly days: ReadonlyArray<DayStatistics> }) => (
  <Table
    scrolls
    rows={days.toReversed()}
    keyOf={({ day }) => day}
    columns={[
      { head: "Day", cell: ({ day }) => day },
      ...amounts.map(([head, cell]) => ({ head, cell, isAmount: true }))
    ]}
  />
)

const amounts: ReadonlyArray<readonly [head: string, of: (day: DayStatistics) => string]> = [
  ["Accepted", ({ accepted }) => number(accepted)],
  ["Size", (day) => bytes(day.bytes)],
  ["Delivered", ({ delivered }) => number(delivered)],
  ["Failed", ({ failed }) => number(failed)],
  ["Dead", ({ dead }) => number(dead)],
  ["Refused", (day) => number(refusedOn(day))],
  ["p50", ({ p50_ms }) => (p50_ms === null ? "–" : millis(p50_ms))],
  ["p99", ({ p99_ms }) => (p99_ms === null ? "–" : millis(p99_ms))]
]
