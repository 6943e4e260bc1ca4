import { hash } from "node:crypto"
import { Clock, Effect } from "effect"
import { BoundedMap } from "../cache/BoundedMap.ts"
import type { DomainId } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** Maximum pairs of author and address that one process remembers: about 3 MB. */
const mostPairs = 10_000
const hour = 3_600_000

/** An answer to a mail: a reply, an automatic reply or a bounce. Other mail is part of no loop. */
export interface Answer {
  readonly domainId: DomainId
  readonly recipient: string
  readonly author: string
  /** Counted apart, so that forged answers do not hold those of the author. */
  readonly isConfirmed: boolean
}

export interface LoopGuard {
  /** Counts an answer. True if it exceeds the limit of its author and recipient in the hour since the first of them. */
  readonly exceeds: (answer: Answer) => boolean
  /** Takes an answer back, because it was not written and will be read again. */
  readonly forget: (answer: Answer) => void
}

/** Makes a guard. Each process counts by itself, and forgets the pairs that were quiet for longest. */
export const make = Effect.gen(function* () {
  const { answersPerHour } = yield* Settings.loops
  const clock = yield* Clock.Clock
  const counts = new BoundedMap<string, { readonly since: number; count: number }>(mostPairs)

  // A hash, because the address of an author may have 128 KiB.
  const keyOf = ({ author, domainId, isConfirmed, recipient }: Answer) =>
    hash("sha256", `${domainId} ${isConfirmed} ${recipient.toLowerCase()} ${author.toLowerCase()}`, "base64")

  const guard: LoopGuard = {
    exceeds: (answer) => {
      if (answersPerHour === 0) return false
      const key = keyOf(answer)
      const now = Elapsed.millisOf(clock)
      const known = counts.get(key)
      const current = known === undefined || now - known.since >= hour ? { since: now, count: 0 } : known
      current.count++
      counts.set(key, current)
      return current.count > answersPerHour
    },
    forget: (answer) => {
      const known = counts.get(keyOf(answer))
      if (known !== undefined && known.count > 0) known.count--
    }
  }
  return guard
})
