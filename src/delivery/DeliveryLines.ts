import type { DomainId } from "../model/Domain.ts"

/**
 * Deliveries that are leased, in turns of requests: one under way, and two that wait
 * for it. A webhook that answers nothing holds the last of them for three time-outs,
 * which is less than their lease by the default of 15 seconds.
 */
const turns = 3

/** What this process has of a domain. */
interface Line<Delivery> {
  readonly domainId: DomainId
  /** Requests under way. */
  running: number
  /** Outcomes that are being written down. */
  settling: number
  /** Places for deliveries to come. */
  reserved: number
  /** Leased deliveries that wait for a request. */
  readonly held: Array<Delivery>
  isInTurn: boolean
}

/**
 * Keeps count of the deliveries that this process has, domain by domain, and begins the
 * next ones: in each domain in their order, and one domain after the other. It knows
 * nothing of requests or of the database.
 */
export const make = <Delivery extends { readonly domainId: DomainId }>(options: {
  /** Most requests at a time, in all and of a domain. */
  readonly concurrency: number
  readonly concurrencyPerDomain: number
  /** Begins a request, which is to be followed by `answered` and then `settled`. */
  readonly begin: (delivery: Delivery) => void
  /** There may be more to claim, and now there is room for it. */
  readonly wanting: () => void
}) => {
  const { begin, concurrency, concurrencyPerDomain, wanting } = options
  const mostOfDomain = concurrencyPerDomain * turns
  const mostInAll = concurrency * turns

  const lines = new Map<DomainId, Line<Delivery>>()
  /** Lines that hold a delivery whose request may begin, the one that has waited longest first. */
  let inTurn: Array<Line<Delivery>> = []
  /** Domains of which the table may hold more, older than what is written now. */
  const limited = new Set<DomainId>()
  let running = 0
  let settling = 0
  /** All that the lines have. */
  let taken = 0
  /** A claim found no room in all. */
  let isFull = false
  let isStopped = false
  let isBeginning = false

  const lineOf = (domainId: DomainId): Line<Delivery> => {
    const known = lines.get(domainId)
    if (known !== undefined) return known
    const line: Line<Delivery> = { domainId, running: 0, settling: 0, reserved: 0, held: [], isInTurn: false }
    lines.set(domainId, line)
    return line
  }
  const sizeOf = (line: Line<Delivery> | undefined) =>
    line === undefined ? 0 : line.running + line.settling + line.reserved + line.held.length
  const forgetEmpty = (line: Line<Delivery>) => {
    if (sizeOf(line) === 0) lines.delete(line.domainId)
  }

  const queueUp = (line: Line<Delivery>) => {
    if (line.isInTurn || line.held.length === 0 || line.running >= concurrencyPerDomain) return
    line.isInTurn = true
    inTurn.push(line)
  }

  /** Begins what has room. What ends at once, within `begin`, makes room for this same loop. */
  const beginNext = () => {
    if (isBeginning) return
    isBeginning = true
    while (running < concurrency) {
      const line = inTurn.shift()
      if (line === undefined) break
      line.isInTurn = false
      const next = line.held.shift()
      if (next === undefined) continue
      line.running++
      running++
      // Behind all others that wait.
      queueUp(line)
      begin(next)
    }
    isBeginning = false
  }

  const hold = (delivery: Delivery) => {
    const line = lineOf(delivery.domainId)
    line.held.push(delivery)
    queueUp(line)
  }

  return {
    mostOfDomain,

    /** Places for a domain whose older deliveries are all here: what is in the table goes first. */
    reserve: (domainId: DomainId, most: number): number => {
      if (isStopped || limited.has(domainId)) return 0
      const line = lineOf(domainId)
      const places = Math.max(0, Math.min(most, mostOfDomain - sizeOf(line), mostInAll - taken))
      line.reserved += places
      taken += places
      // What gets no place is for a claim.
      if (places < most) limited.add(domainId)
      forgetEmpty(line)
      return places
    },

    /** Gives up places that were reserved. */
    release: (domainId: DomainId, places: number) => {
      const line = lineOf(domainId)
      line.reserved -= places
      taken -= places
      forgetEmpty(line)
    },

    /** Takes a delivery for which a place was reserved. */
    fill: (delivery: Delivery) => {
      lineOf(delivery.domainId).reserved--
      hold(delivery)
      beginNext()
    },

    /** How many a claim of `most` may take in all; with no room it is asked for once there is. */
    room: (most: number): number => {
      const room = Math.min(most, mostInAll - taken)
      isFull = room <= 0
      return isStopped ? 0 : Math.max(0, room)
    },

    /** Of each domain how much there is here. */
    sizes: (): ReadonlyMap<DomainId, number> => new Map([...lines].map(([domainId, line]) => [domainId, sizeOf(line)])),

    /** A claim is to follow that looks at all domains: what it finds no more of is not behind. */
    forgetLimits: () => {
      for (const domainId of limited) {
        if (sizeOf(lines.get(domainId)) < mostOfDomain) limited.delete(domainId)
      }
    },

    /** Takes what was claimed beside what was here before. */
    take: (claimed: ReadonlyArray<Delivery>, sizesBefore: ReadonlyMap<DomainId, number>) => {
      for (const [domainId, own] of Map.groupBy(claimed, ({ domainId }) => domainId)) {
        if (own.length >= mostOfDomain - (sizesBefore.get(domainId) ?? 0)) limited.add(domainId)
      }
      taken += claimed.length
      claimed.forEach(hold)
      beginNext()
    },

    /** A request has its answer: another one need not wait for that to be written down. */
    answered: (domainId: DomainId) => {
      const line = lineOf(domainId)
      line.running--
      running--
      line.settling++
      settling++
      queueUp(line)
      beginNext()
    },

    /** What became of an answered request is written down, or can't be. */
    settled: (domainId: DomainId) => {
      const line = lineOf(domainId)
      line.settling--
      settling--
      taken--
      // Most of what there was room for has gone: there may be more of it.
      const wasLimited = limited.has(domainId) && sizeOf(line) <= concurrencyPerDomain
      if (wasLimited || (isFull && taken <= concurrency)) wanting()
      forgetEmpty(line)
    },

    /** A domain is known to have more in the table, and has much to do here before that. */
    isBusy: (domainId: DomainId) => limited.has(domainId) && sizeOf(lines.get(domainId)) > concurrencyPerDomain,

    /** Requests that have no answer, and answers that are not written down. */
    underWay: () => running + settling,

    /** Takes nothing any more; returns what waits. */
    stop: (): ReadonlyArray<Delivery> => {
      isStopped = true
      inTurn = []
      const held = [...lines.values()].flatMap((line) => {
        line.isInTurn = false
        return line.held.splice(0)
      })
      taken -= held.length
      return held
    },

    isStopped: () => isStopped
  }
}
