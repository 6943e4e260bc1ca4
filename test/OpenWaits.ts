import { Effect, Metric } from "effect"
import { eventually } from "./Eventually.ts"

const openWaits = Effect.map(Metric.snapshot, (all) => {
  const gauge = all.find(({ id }) => id === "inlet_http_waits")
  return gauge?.type === "Gauge" ? Number(gauge.state.value) : 0
})

/** Waits until the service in this process has exactly this many open waits and event streams. */
export const are = (count: number) => eventually(openWaits, (open) => open === count)
