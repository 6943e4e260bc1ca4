const count = new Intl.NumberFormat(undefined)

export const number = (value: number): string => count.format(value)

/** A number with its noun, in the plural unless it is one. */
export const counted = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`

/** A duration in ms, as a person reads it. */
export const millis = (value: number): string => {
  if (value < 1_000) return `${Math.round(value)} ms`
  if (value < 60_000) return `${(value / 1_000).toFixed(1)} s`
  if (value < 3_600_000) return `${(value / 60_000).toFixed(1)} min`
  return `${(value / 3_600_000).toFixed(1)} h`
}

/** A size in bytes, as a person reads it. */
export const bytes = (value: number): string => {
  if (value < 1_024) return `${value} B`
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KiB`
  if (value < 1_073_741_824) return `${(value / 1_048_576).toFixed(1)} MiB`
  return `${(value / 1_073_741_824).toFixed(1)} GiB`
}
