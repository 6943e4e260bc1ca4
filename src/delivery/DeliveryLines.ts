import type { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as DeliveryRooms from "./DeliveryRooms.ts"
import * as DomainLines from "./DomainLines.ts"
import * as Pace from "./Pace.ts"

/** Bytes of payloads that wait here; what goes beyond is found in the table again. */
const mostWaitingBytes = 64 * 1024 * 1024

/** A domain with mail that may be claimed. */
interface Waiting {
  readonly domainId: DomainId
  readonly workspaceId: WorkspaceId
}

/**
 * Keeps count of the deliveries that this process has, domain by domain, and begins the
 * next ones: in each domain in their order, and one domain after the other. It knows
 * nothing of requests or of the database.
 */
export const make = <Delivery extends Waiting & { readonly payload: Uint8Array }>(options: {
  /** Most requests at a time, in all and of a domain. */
  readonly concurrency: number
  readonly concurrencyPerDomain: number
  /** A request that takes so long has hung. */
  readonly hangMillis: number
  /** Begins a request, which is to be followed by `answered` and then `settled`. */
  readonly begin: (delivery: Delivery) => void
  /** Deliveries that are not to wait here any longer. */
  readonly giveBack: (deliveries: ReadonlyArray<Delivery>) => void
  /** There may be more to claim, and now there is room for it. */
  readonly wanting: () => void
}) => {
  const { begin, concurrency, concurrencyPerDomain, giveBack, hangMillis, wanting } = options
  const bounds = { most: concurrencyPerDomain, hangMillis }

  const lines = DomainLines.make<Delivery>()
  const { grow, lineOf, taken } = lines
  const rooms = DeliveryRooms.make(lines, concurrency)
  /** Lines that hold a delivery whose request may begin, the one that has waited longest first. */
  let inTurn: Array<DomainLines.Line<Delivery>> = []
  /** Domains of which the table may hold more, older than what is written now. */
  const limited = new Set<DomainId>()
  const runningOf = new Map<WorkspaceId, number>()
  /** Requests under way, and outcomes that are being written down. */
  let running = 0
  let settling = 0
  let waitingBytes = 0
  /** Something got less than it wanted because of all others, or of all that are not quick. */
  let isFull = false
  let isCrowded = false
  let isStopped = false
  let isBeginning = false

  /** Takes what there is room for; what is left over waits in the table, and is asked for once there is room. */
  const takePlaces = (line: DomainLines.Line<Delivery>, wanted: number, isFirstOfWorkspace: boolean) => {
    const own = Math.min(wanted, rooms.ownOf(line))
    const places = Math.min(own, rooms.sharedOf(line, isFirstOfWorkspace))
    if (places < own) {
      if (line.pace.standing === "quick") isFull = true
      else isCrowded = true
    }
    if (places > 0) grow(line, places)
    return places
  }

  /** Little enough is left of it here to ask for more. */
  const isLow = ({ pace, size }: DomainLines.Line<Delivery>) =>
    pace.standing === "quick" ? size <= pace.places : size < pace.places

  /**
   * A request may begin. What was sent and is not written down yet is sent again after the death of this process:
   * at most two turns of a domain, however long the database takes.
   */
  const mayBegin = ({ pace, running, settling }: DomainLines.Line<Delivery>) =>
    running < pace.places && running + settling < 2 * pace.places

  const queueUp = (line: DomainLines.Line<Delivery>) => {
    if (line.isInTurn || line.held.length === 0 || !mayBegin(line)) return
    line.isInTurn = true
    inTurn.push(line)
  }

  /** The next line; one whose workspace has its part comes behind all others. */
  const nextInTurn = (): DomainLines.Line<Delivery> | undefined => {
    const first = inTurn.findIndex(
      ({ workspaceId }) => workspaceId === undefined || (runningOf.get(workspaceId) ?? 0) < rooms.mostOfWorkspace
    )
    return first <= 0 ? inTurn.shift() : inTurn.splice(first, 1)[0]
  }

  /** Begins what has room. What ends at once, within `begin`, makes room for this same loop. */
  const beginNext = () => {
    if (isBeginning) return
    isBeginning = true
    while (running < concurrency) {
      const line = nextInTurn()
      if (line === undefined) break
      line.isInTurn = false
      // It may have hung since.
      const next = mayBegin(line) ? line.held.shift() : undefined
      if (next === undefined) continue
      waitingBytes -= next.payload.byteLength
      runningOf.set(next.workspaceId, (runningOf.get(next.workspaceId) ?? 0) + 1)
      line.running++
      running++
      // Behind all others that wait.
      queueUp(line)
      begin(next)
    }
    isBeginning = false
  }

  /** Lets go of deliveries that wait; the table has them. */
  const drop = (line: DomainLines.Line<Delivery>, dropped: ReadonlyArray<Delivery>) => {
    if (dropped.length === 0) return
    for (const { payload } of dropped) waitingBytes -= payload.byteLength
    limited.add(line.domainId)
    grow(line, -dropped.length)
    giveBack(dropped)
  }

  /** Takes a delivery that has its place. */
  const hold = (delivery: Delivery) => {
    const line = lineOf(delivery.domainId)
    line.workspaceId = delivery.workspaceId
    line.held.push(delivery)
    waitingBytes += delivery.payload.byteLength
    queueUp(line)
    beginNext()
    if (waitingBytes > mostWaitingBytes) drop(line, line.held.splice(-1))
  }

  const release = (domainId: DomainId, places: number) => {
    if (places > 0) grow(lineOf(domainId), -places)
  }

  return {
    /**
     * Places for a domain whose older deliveries are all here: what is in the table goes first.
     * One that hangs gets all of its mail from there.
     */
    reserve: (domainId: DomainId, most: number): number => {
      if (isStopped || limited.has(domainId)) return 0
      const line = lineOf(domainId)
      const places = line.pace.standing === "hung" ? 0 : takePlaces(line, most, false)
      // What gets no place is for a claim.
      if (places < most) limited.add(domainId)
      return places
    },

    /** Gives up places that were reserved. */
    release,

    /** Takes a delivery for which a place was reserved. */
    fill: hold,

    /**
     * Takes places for domains that have mail in the table, the one that has waited longest first: at most
     * `most` in all, in equal parts. Says of each how many a claim may take, and whether some were left out.
     */
    admit: (waiting: ReadonlyArray<Waiting>, most: number) => {
      isFull = waitingBytes >= mostWaitingBytes
      isCrowded = false
      const admitted = new Map<DomainId, number>()
      if (isStopped || isFull) return { admitted, isCut: false }
      // What is not among those that wait has nothing in the table.
      limited.clear()
      const workspaces = new Set<WorkspaceId>()
      for (const { pace, workspaceId } of lines.all()) {
        if (workspaceId !== undefined && Pace.isAtOne(pace)) workspaces.add(workspaceId)
      }
      let left = Math.min(most, rooms.forAll())
      let isCut = false
      const equalPart = Math.max(1, Math.floor(left / waiting.length))
      for (const { domainId, workspaceId } of waiting) {
        const line = lineOf(domainId)
        if (left === 0) {
          isCut = true
          isFull ||= rooms.forAll() === 0
        }
        const places = takePlaces(line, Math.min(equalPart, left), !workspaces.has(workspaceId))
        if (places === 0) {
          limited.add(domainId)
          continue
        }
        left -= places
        admitted.set(domainId, places)
        if (Pace.isAtOne(line.pace)) workspaces.add(workspaceId)
      }
      return { admitted, isCut }
    },

    /** Bytes of payloads that a claim may bring. */
    roomForBytes: () => Math.max(1, mostWaitingBytes - waitingBytes),

    /** Takes what was claimed into its places, and gives the others up. Says whether more may be claimed at once. */
    take: (claimed: ReadonlyArray<Delivery>, admitted: ReadonlyMap<DomainId, number>) => {
      let isMore = false
      const counts = new Map<DomainId, number>()
      for (const { domainId } of claimed) counts.set(domainId, (counts.get(domainId) ?? 0) + 1)
      for (const [domainId, places] of admitted) {
        const count = counts.get(domainId) ?? 0
        if (count < places) release(domainId, places - count)
        else {
          limited.add(domainId)
          isMore ||= rooms.ownOf(lineOf(domainId)) > 0
        }
      }
      claimed.forEach(hold)
      return isMore
    },

    /** How many paused webhooks may be tried now. */
    roomForProbes: (most: number): number => (isStopped ? 0 : Math.min(most, rooms.forProbes())),

    /** Takes deliveries that paused webhooks are tried with. */
    takeProbes: (claimed: ReadonlyArray<Delivery>) => {
      for (const delivery of claimed) {
        grow(lineOf(delivery.domainId), 1)
        hold(delivery)
      }
    },

    /** A request has its answer, or none: another one need not wait for that to be written down. */
    answered: ({ domainId, workspaceId }: Delivery, isSuccess: boolean, millis: number) => {
      const line = lineOf(domainId)
      line.running--
      line.settling++
      running--
      settling++
      const others = (runningOf.get(workspaceId) ?? 1) - 1
      if (others === 0) runningOf.delete(workspaceId)
      else runningOf.set(workspaceId, others)
      const wasQuick = line.pace.standing === "quick"
      taken[line.pace.standing] -= line.size
      Pace.heard(line.pace, isSuccess, millis, bounds)
      taken[line.pace.standing] += line.size
      if (isCrowded && !wasQuick) wanting()
      if (line.pace.standing === "hung") drop(line, line.held.splice(0))
      queueUp(line)
      beginNext()
    },

    /** What became of an answered request is written down, or can't be. */
    settled: (domainId: DomainId) => {
      const line = lineOf(domainId)
      settling--
      line.settling--
      grow(line, -1)
      const wasLimited = limited.has(domainId) && isLow(line)
      const wasCrowded = isCrowded && line.pace.standing !== "quick"
      if (wasLimited || wasCrowded || (isFull && lines.total() <= concurrency)) wanting()
      queueUp(line)
      beginNext()
    },

    /** A domain is known to have more in the table, and has much to do here before that, or others have. */
    isBusy: (domainId: DomainId) => {
      if (!limited.has(domainId)) return false
      const line = lineOf(domainId)
      return !isLow(line) || rooms.sharedOf(line, true) === 0
    },

    /** Requests that have no answer, and answers that are not written down. */
    underWay: () => running + settling,

    /** Takes nothing any more; returns what waits. */
    stop: (): ReadonlyArray<Delivery> => {
      isStopped = true
      inTurn = []
      const held: Array<Delivery> = []
      for (const line of [...lines.all()]) {
        line.isInTurn = false
        const own = line.held.splice(0)
        for (const { payload } of own) waitingBytes -= payload.byteLength
        grow(line, -own.length)
        held.push(...own)
      }
      return held
    },

    isStopped: () => isStopped
  }
}
