import { Context } from "effect"
import { BoundedMap } from "../cache/BoundedMap.ts"

/** What a flood is, and what its clients may still do. Tests change it. */
export const FloodBounds = Context.Reference("inlet/smtp/FloodBounds", {
  defaultValue: () => ({
    /** A flood begins with this many 5xx replies to all clients between two checks of the sessions. */
    errors: 200,
    /** How long a flood lasts after the last time that this many were counted. */
    milliseconds: 10_000,
    /** The number of 5xx replies that ends a session without an accepted recipient. */
    errorsOfSession: 3,
    /** A network gets no new session after this many of its sessions ended for errors. */
    sessions: 3,
    /** How long an ended session or a sent mail of a network counts. */
    memoryMilliseconds: 60_000
  })
})

/** Most client networks that are remembered. */
const networks = 10_000

/**
 * Detects a flood of 5xx replies, which a client causes that tries many addresses. 4xx replies do not count, because
 * every client gets them while the database is out of reach. During a flood, sessions without an accepted recipient end
 * sooner. A network with several such sessions gets no new one, unless it sent mail recently. The caller passes the
 * time.
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
    /** Counts a 5xx reply to any client. */
    erred: (now: number) => {
      if (++errors === bounds.errors) until = now + bounds.milliseconds
    },
    /** Restarts the count, at each check of the sessions. */
    looked: () => {
      errors = 0
    },
    /** Records that a client of this network sent mail. */
    sent: (network: string, now: number) => sentMail.set(network, now),
    /** Records that a session of this network ended for errors. */
    ended: (network: string, now: number) => {
      const before = ended.get(network)
      ended.set(network, { times: isRecent(before?.at, now) ? (before?.times ?? 0) + 1 : 1, at: now })
    },
    /** How many 5xx replies end a session without an accepted recipient now. Undefined outside of a flood. */
    errorsOfSession: (now: number) => (isOn(now) ? bounds.errorsOfSession : undefined),
    /** True if the network gets no session now. */
    isShut: (network: string, now: number): boolean => {
      const { at, times = 0 } = ended.get(network) ?? {}
      return isOn(now) && times >= bounds.sessions && isRecent(at, now) && !isRecent(sentMail.get(network), now)
    }
  }
}
