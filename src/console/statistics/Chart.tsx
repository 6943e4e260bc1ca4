import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"

export interface Line {
  readonly name: string
  /** A variable of the style sheet. */
  readonly color: "--accent" | "--bad" | "--soft" | "--ink"
  readonly values: ReadonlyArray<number | null>
  readonly isBar?: boolean
}

const height = 220

/** Days before the last one that a chart shows at least. A new domain has fewer. */
const fewestDays = 6

/** Seconds of a day. */
const day = 86_400

const dates = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })

const dayOf = (seconds: number) => dates.format(seconds * 1_000)

/** The indices of days between days without a value, which a line leaves out. */
const alone = (values: Line["values"]): ReadonlyArray<number> =>
  values.flatMap((value, at) => (value !== null && values[at - 1] == null && values[at + 1] == null ? [at] : []))

/** The index of the newest day with values, which the legend shows while no pointer is over the chart. */
const newest = (lines: ReadonlyArray<Line>) =>
  Math.max(...lines.map(({ values }) => values.findLastIndex((value) => value !== null)))

/** Charts values by day. The table of the page has the same figures for screen readers. */
export const Chart = ({
  days,
  format,
  label,
  lines
}: {
  readonly label: string
  readonly days: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  readonly format: (value: number) => string
}) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = box.current
    if (place === null) return
    const draw = () => {
      const style = getComputedStyle(place)
      const colorOf = (name: string) => style.getPropertyValue(name).trim()
      const axis = { stroke: colorOf("--soft"), grid: { stroke: colorOf("--line"), width: 1 }, ticks: { show: false } }
      const times = days.map((day) => Date.parse(day) / 1_000)
      const [first = 0, last = first] = [times[0], times.at(-1)]
      const bars = uPlot.paths.bars?.({ size: [0.7, 40] })
      return new uPlot(
        {
          width: place.clientWidth,
          height,
          cursor: { y: false },
          legend: { live: true },
          // Half a day more at both ends, so that the bars of the first and the last day are whole.
          scales: {
            x: { time: true, range: () => [Math.min(first, last - fewestDays * day) - day / 2, last + day / 2] }
          },
          axes: [
            { ...axis, incrs: [1, 2, 7, 14].map((count) => count * day), values: (_, ticks) => ticks.map(dayOf) },
            { ...axis, size: 64, values: (_, ticks) => ticks.map(format) }
          ],
          series: [
            { label: "Day", value: (_, __, ___, at) => days[at ?? newest(lines)] ?? "–" },
            ...lines.map(({ color, isBar, name, values }) => ({
              label: name,
              stroke: colorOf(color),
              width: 1.5,
              points: { show: isBar !== true, size: 5, fill: colorOf(color), filter: () => [...alone(values)] },
              value: (_: uPlot, __: number | null, ___: number, at: number | null) => {
                const value = values[at ?? newest(lines)] ?? null
                return value === null ? "–" : format(value)
              },
              ...(isBar === true && bars !== undefined ? { paths: bars, fill: `${colorOf(color)}55` } : {})
            }))
          ],
          tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), "UTC")
        },
        [times, ...lines.map(({ values }) => [...values])],
        place
      )
    }
    let chart = draw()
    const resized = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height }))
    resized.observe(place)
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    const redraw = () => {
      chart.destroy()
      chart = draw()
    }
    scheme.addEventListener("change", redraw)
    return () => {
      scheme.removeEventListener("change", redraw)
      resized.disconnect()
      chart.destroy()
    }
  }, [days, lines, format])
  return <div ref={box} class="chart" role="img" aria-label={label} />
}
