import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as PowerCut from "../../prove/PowerCut.ts"

/** Few mails and few cuts. `npm run prove` has more. */
export const lose = Effect.fnUntraced(function* (
  database: PowerCut.Database,
  settings?: Readonly<Record<string, string>>
) {
  const { broken, cuts } = yield* PowerCut.run(database, {
    mails: 10,
    cuts: 1,
    ...(settings === undefined ? {} : { settings })
  })
  assert.deepStrictEqual(broken, [])
  assert.deepStrictEqual(
    cuts.filter(({ lost }) => lost.length > 0),
    []
  )
  assert.isAtLeast(cuts.at(-1)?.accepted ?? 0, 15)
})
