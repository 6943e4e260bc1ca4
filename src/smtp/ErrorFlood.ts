import { Context } from "effect"
import { BoundedMap } from "../cache/BoundedMap.ts"

/** What a flood is, and what its clients may still do. Tests change it. */
export const FloodBounds = Context.Reference("inlet/smtp/FloodBounds", {
  defaultValue: () => ({
    /** Replies of 5xx to all clients between two looks, from which on they are a flood. */
    errors: 200,
    /** How long a flood goes on after the last such look. */
    milliseconds: 10_000,
    /** Replies of 5xx in a session without an accepted recipient. */
    errorsOfSession: 3,
    /** Sessions of a network that ended by their errors, from which on it gets no new one. */
    sessions: 3,
    /** How long ended sessions and sent mail of a network count. */
    memoryMilliseconds: 60_000
  })
})

/** Most client networks that are remembered. */
const networks = 10_000

/**
 * Recognizes a flood of 5xx, as of somebody who tries out addresses. A 4xx is no sign of one, because it may be for want
 * of the database. During a flood, sessions without an accepted recipient end sooner, and a network whose sessions ended
 * so several times gets no new one. A network that sent mail lately always does. The caller passes the time.
 */
export const make = (bounds: typeof FloodBounds.Service) => {
  let errors = 0
  let until = Number.NEGATIVE_INFINITY
  /** When a network's sessions were ended, and how often in a row. */
  const ended = new BoundedMap<string, { readonly times: number; readonly at: number }>(networks)
  const sentMail = new BoundedMap<string, number>(networks)
  const isRecent = (at: number | undefined, now: number) => at !== undefined && now - at < bounds.memoryMilliseconds
  const isOn = (now: number) => now < until

  return {
    isOn,
    /** A reply of 5xx to any client. */
    erred: (now: number) => {
      if (++errors === bounds.errors) until = now + bounds.milliseconds
    },
    /** A look at all sessions, from which errors are counted anew. */
    looked: () => {
      errors = 0
    },
    /** A client of this network sent mail. */
    sent: (network: string, now: number) => sentMail.set(network, now),
    /** A session of this network was ended by its errors. */
    ended: (network: string, now: number) => {
      const before = ended.get(network)
      ended.set(network, { times: isRecent(before?.at, now) ? (before?.times ?? 0) + 1 : 1, at: now })
    },
    /** The bound of 5xx in a session without an accepted recipient. */
    errorsOfSession: (now: number) => (isOn(now) ? bounds.errorsOfSession : undefined),
    /** True if the network gets no session now. */
    isShut: (network: string, now: number): boolean => {
      const { at, times = 0 } = ended.get(network) ?? {}
      return isOn(now) && times >= bounds.sessions && isRecent(at, now) && !isRecent(sentMail.get(network), now)
    }
  }
}
