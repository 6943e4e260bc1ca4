import type { Bomb } from "../test/mime/Bomb.ts"
import { costBombs } from "../test/mime/CostBombs.ts"

/** Four known costly mails, and five of the costliest that `npm run fuzz:climb` has found. */
const names = [
  "attribute selectors and long attributes",
  "variables of every element",
  "nested selectors of nested elements",
  "siblings by position",
  "formatting closed below 500 blocks",
  "tags below 950 elements",
  "text in 990 rows of no table",
  "gradients of long words",
  "encoded words of charsets that nobody knows"
]

/** Mails of at most 1 MiB with the highest parser time for their size. */
export const all: ReadonlyArray<Bomb> = names.map((name) => {
  const found = costBombs.find((bomb) => bomb.name === name)
  // The trial would hold with fewer of them, too.
  if (found === undefined) throw new Error(`No mail in test/mime/CostBombs.ts has the name "${name}"`)
  return found
})
