import { Metric } from "effect"

const died = Metric.counter("inlet_deliveries_dead_total", {
  description: "Deliveries that became dead letters since the start",
  incremental: true
})

/** Counts deliveries that used their last attempt. Zero makes the series: Prometheus counts no increase in its first value. */
export const add = (deliveries: number) => Metric.update(died, deliveries)
