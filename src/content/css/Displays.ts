import type { Display } from "./Effects.ts"

const displays = new Map<string, Display>(
  Object.entries({
    none: "none",
    inline: "inline",
    initial: "inline",
    contents: "inline",
    "inline-block": "inline",
    "inline-flex": "inline",
    "-webkit-inline-flex": "inline",
    "inline-grid": "inline",
    "inline-table": "inline",
    ruby: "inline",
    block: "block",
    flex: "block",
    "-webkit-flex": "block",
    grid: "block",
    "flow-root": "block",
    "-webkit-box": "block",
    table: "table",
    "table-row-group": "block",
    "table-header-group": "block",
    "table-footer-group": "block",
    "table-caption": "block",
    "table-column": "none",
    "table-column-group": "none",
    "table-row": "row",
    "table-cell": "cell",
    "list-item": "item"
  })
)

/** The layout of a value of `display`, or undefined if Inlet does not evaluate it. */
export const of = (value: string): Display | undefined => displays.get(value)
