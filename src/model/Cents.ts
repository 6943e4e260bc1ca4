/** US cents as a decimal string: 1298 is "12.98". */
export const decimal = (cents: number): string => `${cents < 0 ? "-" : ""}${unsigned(cents)}`

const unsigned = (cents: number) =>
  `${Math.trunc(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, "0")}`

/** Formats cents for people: 1298 is "$12.98". */
export const dollars = (cents: number): string => `${cents < 0 ? "-" : ""}$${unsigned(cents)}`
