/** The value below which this share of all lies. */
export const percentile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
