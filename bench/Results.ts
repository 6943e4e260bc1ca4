import * as Contestants from "./Contestants.ts"
import { type Load, loads, type Measured } from "./Measurement.ts"
import { median, spread } from "./Statistics.ts"
import * as Table from "./Table.ts"

/** The counted rounds of each contestant under each load. */
export type Results = Record<keyof typeof loads, Partial<Record<Contestants.Key, ReadonlyArray<Measured>>>>

type Field = Exclude<keyof Measured, "webhooks">

const valuesOf = (rounds: ReadonlyArray<Measured>, field: Field) => rounds.map((measured) => measured[field])

/** The ratio of medians, or NaN if one is missing. */
const ratio = (own: ReadonlyArray<Measured>, yardstick: ReadonlyArray<Measured>, field: Field) =>
  median(valuesOf(own, field)) / median(valuesOf(yardstick, field))

const shown = (value: number, digits: number) => (Number.isNaN(value) ? "–" : value.toFixed(digits))

/** The heading and table of each measured load. */
export const tables = (results: Results, order: ReadonlyArray<Contestants.Key>) =>
  loadNames.flatMap((name) => {
    const load: Load = loads[name]
    const measured = results[name]
    const yardstick = measured.b ?? []
    const throughput = !("perSecond" in load.shape)
    const rows = order.flatMap((key) => {
      const rounds = measured[key]
      if (rounds === undefined) return []
      const cell = (field: Field, digits: number) => spread(valuesOf(rounds, field), digits)
      return [
        [
          Contestants.all[key].name,
          ...(throughput
            ? [
                cell("delivered", 0),
                shown(ratio(rounds, yardstick, "delivered"), 2),
                cell("accepted", 0),
                shown(ratio(rounds, yardstick, "accepted"), 2)
              ]
            : []),
          ...(["replyP50", "replyP99", "webhookP50", "webhookP99"] as const).map((field) => cell(field, 1)),
          cell("cpu", 2),
          cell("peakMegabytes", 0)
        ]
      ]
    })
    if (rows.length === 0) return []
    const head = [
      "contestant",
      ...(throughput ? ["delivered/s", "÷ (b)", "accepted/s", "÷ (b)"] : []),
      ...["DATA → 250 p50, ms", "p99", "DATA → webhook p50, ms", "p99", "CPU s per 1,000", "peak MB"]
    ]
    return [`### ${load.title[0]?.toUpperCase()}${load.title.slice(1)}`, "", Table.render(head, rows), ""]
  })

interface Target {
  readonly figure: string
  readonly goal: string
  readonly measured: ReadonlyArray<number>
  readonly digits: number
  readonly isMet: boolean
}

/** The target ratios, and whether each is met. */
export const targets = (results: Results) => {
  const of = (load: keyof typeof loads, key: Contestants.Key) => results[load][key] ?? []
  const toYardstick = (load: keyof typeof loads, field: Field, key: Contestants.Key = "inlet") =>
    ratio(of(load, key), of(load, "b"), field)
  const own = (load: keyof typeof loads, field: Field) => median(valuesOf(of(load, "inlet"), field))

  const atLeast = (figure: string, goal: number, measured: number): Target => ({
    figure,
    goal: `≥ ${goal.toFixed(1)} × (b)`,
    measured: [measured],
    digits: 2,
    isMet: measured >= goal
  })
  const both = (figure: string, goals: readonly [number, number], measured: readonly [number, number]): Target => ({
    figure,
    goal: `≤ ${goals.join(" / ")}`,
    measured,
    digits: 1,
    isMet: measured[0] <= goals[0] && measured[1] <= goals[1]
  })
  const all: ReadonlyArray<Target> = [
    atLeast(`end to end, ${loads.mixed.title}`, 2, toYardstick("mixed", "delivered")),
    atLeast(`end to end, ${loads.reused.title}`, 2.2, toYardstick("reused", "delivered")),
    atLeast(`end to end, ${loads.small.title}`, 2.2, toYardstick("small", "delivered")),
    atLeast("accepted per second in a burst, mixed, per message", 2, toYardstick("mixed", "accepted")),
    atLeast("accepted per second in a burst, mixed, reused", 2, toYardstick("reused", "accepted")),
    {
      figure: "CPU of server and PostgreSQL, per 1,000 mixed",
      goal: "≤ 0.60 × (b)",
      measured: [toYardstick("mixed", "cpu")],
      digits: 2,
      isMet: toYardstick("mixed", "cpu") <= 0.6
    },
    both(
      "at a steady 200 mixed messages/s: DATA → 250, p50 / p99 ms",
      [4, 25],
      [own("steady", "replyP50"), own("steady", "replyP99")]
    ),
    {
      figure: "at 200/s: DATA → webhook received, p50 ms",
      goal: "≤ 10",
      measured: [own("steady", "webhookP50")],
      digits: 1,
      isMet: own("steady", "webhookP50") <= 10
    },
    {
      figure: "peak memory, mixed, MB",
      goal: "≤ 300",
      measured: [own("mixed", "peakMegabytes")],
      digits: 0,
      isMet: own("mixed", "peakMegabytes") <= 300
    },
    ...(["mixed", "reused", "small"] as const).map((load) =>
      atLeast(`embedded database, end to end, ${loads[load].title}`, 0.8, toYardstick(load, "delivered", "embedded"))
    ),
    {
      figure: "embedded database, peak memory, mixed, MB",
      goal: "≤ 600",
      measured: [median(valuesOf(of("mixed", "embedded"), "peakMegabytes"))],
      digits: 0,
      isMet: median(valuesOf(of("mixed", "embedded"), "peakMegabytes")) <= 600
    },
    {
      figure: `end to end, ${loads.mixed.title}, against (c)`,
      goal: "≥ 2.5 × (c)",
      measured: [ratio(of("mixed", "inlet"), of("mixed", "c"), "delivered")],
      digits: 2,
      isMet: ratio(of("mixed", "inlet"), of("mixed", "c"), "delivered") >= 2.5
    }
  ]
  return Table.render(
    ["figure", "goal", "measured", ""],
    all.map(({ digits, figure, goal, isMet, measured }) => {
      const isMeasured = !measured.some(Number.isNaN)
      return [
        figure,
        goal,
        measured.map((value) => shown(value, digits)).join(" / "),
        isMeasured ? (isMet ? "met" : "not met") : "not measured"
      ]
    })
  )
}

// Object.keys loses the key type.
export const loadNames = Object.keys(loads) as ReadonlyArray<keyof typeof loads>
