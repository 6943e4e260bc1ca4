import type { Display } from "./Effects.ts"

const all = (display: Display, values: string) => values.split(" ").map((value) => [value, display] as const)

const displays: ReadonlyMap<string, Display> = new Map([
  ...all("none", "none table-column table-column-group"),
  ...all(
    "inline",
    "inline initial contents inline-block inline-flex -webkit-inline-flex inline-grid inline-table ruby"
  ),
  ...all(
    "block",
    "block flex -webkit-flex grid flow-root -webkit-box table-row-group table-header-group table-footer-group table-caption"
  ),
  ...all("table", "table"),
  ...all("row", "table-row"),
  ...all("cell", "table-cell"),
  ...all("item", "list-item")
])

/** The layout of a value of `display`, or undefined if Inlet does not evaluate it. */
export const of = (value: string): Display | undefined => displays.get(value)
