const sorted = (values: ArrayLike<number>) => Float64Array.from(values).sort()

/** The smallest value that is not below this share of all values. */
export const percentile = (values: ArrayLike<number>, share: number) =>
  sorted(values)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN

export const median = (values: ArrayLike<number>) => {
  const all = sorted(values)
  const middle = all.length >> 1
  const above = all[middle] ?? Number.NaN
  return all.length % 2 === 1 ? above : ((all[middle - 1] ?? Number.NaN) + above) / 2
}

/** Formats `412 (398–431)`: median, minimum and maximum. */
export const spread = (values: ReadonlyArray<number>, digits: number) =>
  values.length === 0
    ? "–"
    : `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
