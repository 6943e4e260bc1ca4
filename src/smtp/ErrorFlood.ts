import { BoundedMap } from "../cache/BoundedMap.ts"
import type { SessionBounds } from "./SessionBudget.ts"

/** Most client networks that are remembered. */
const networks = 10_000

/**
 * Recognizes a flood of 4xx and 5xx, as of somebody who tries out addresses. During it, sessions without an accepted
 * recipient end sooner, and a network whose sessions ended so several times gets no new one for a while. A network that
 * sent mail in this time always does. The caller passes the time.
 */
export const make = (bounds: typeof SessionBounds.Service) => {
  let errors = 0
  let until = Number.NEGATIVE_INFINITY
  /** When a network's sessions were ended, and how often in a row. */
  const ended = new BoundedMap<string, { times: number; at: number }>(networks)
  const sentMail = new BoundedMap<string, number>(networks)
  const isRecent = (at: number | undefined, now: number) => at !== undefined && now - at < bounds.floodMemory

  return {
    /** True during a flood. */
    isOn: (now: number): boolean => now < until,
    /** A reply of 4xx or 5xx to any client. */
    erred: (now: number) => {
      if (++errors === bounds.floodErrors) until = now + bounds.floodMilliseconds
    },
    /** A look at all sessions, from which errors are counted anew. */
    looked: () => {
      errors = 0
    },
    /** A client of this network sent mail. */
    sent: (network: string, now: number) => sentMail.set(network, now),
    /** A session of this network was ended early. */
    ended: (network: string, now: number) => {
      const before = ended.get(network)
      ended.set(network, { times: isRecent(before?.at, now) ? (before?.times ?? 0) + 1 : 1, at: now })
    },
    /** True if the network gets no session now. */
    isShut: (network: string, now: number): boolean => {
      if (now >= until) return false
      const before = ended.get(network)
      if (before === undefined || before.times < bounds.floodSessions || !isRecent(before.at, now)) return false
      return !isRecent(sentMail.get(network), now)
    }
  }
}
