import type { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as DeliveryRooms from "./DeliveryRooms.ts"
import * as DomainLines from "./DomainLines.ts"
import * as Pace from "./Pace.ts"

/** Maximum bytes of waiting payloads. Further deliveries stay in the table. */
const mostWaitingBytes = 64 * 1024 * 1024

/** A domain with deliveries to claim. */
interface Waiting {
  readonly domainId: DomainId
  readonly workspaceId: WorkspaceId
}

/**
 * Queues this process's deliveries per domain and starts them in order, one domain after the other. Independent of
 * requests and the database.
 */
export const make = <Delivery extends Waiting & { readonly payload: Uint8Array }>(options: {
  /** Maximum concurrent requests, in total and per domain. */
  readonly concurrency: number
  readonly concurrencyPerDomain: number
  /** Duration from which a request counts as hung. */
  readonly hangMillis: number
  /** Starts a request. Calls of `answered` and then `settled` must follow. */
  readonly begin: (delivery: Delivery) => void
  /** Called with deliveries that must stop waiting here. */
  readonly giveBack: (deliveries: ReadonlyArray<Delivery>) => void
  /** Called when slots are free and more deliveries may be claimed. */
  readonly wanting: () => void
}) => {
  const { begin, concurrency, concurrencyPerDomain, giveBack, hangMillis, wanting } = options
  const bounds = { most: concurrencyPerDomain, hangMillis }

  const lines = DomainLines.make<Delivery>()
  const { grow, lineOf, taken } = lines
  const rooms = DeliveryRooms.make(lines, concurrency)
  /** Lines with a startable delivery, longest waiting first. */
  let inTurn: Array<DomainLines.Line<Delivery>> = []
  /** Domains that may have older deliveries in the table. */
  const limited = new Set<DomainId>()
  const runningOf = new Map<WorkspaceId, number>()
  /** Open requests, and outcomes being stored. */
  let running = 0
  let settling = 0
  let waitingBytes = 0
  /** True if a line got fewer slots than wanted because of total limits. */
  let isFull = false
  let isCrowded = false
  let isStopped = false
  let isBeginning = false

  /** Takes up to `wanted` free slots. Deliveries without a slot wait in the table. */
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

  /** True if so few deliveries are left here that more should be claimed. */
  const isLow = ({ pace, size }: DomainLines.Line<Delivery>) =>
    pace.standing === "quick" ? size <= pace.places : size < pace.places

  /**
   * True if a request may start. A crash repeats requests whose outcome is not stored, so a domain has at most two
   * rounds of those.
   */
  const mayBegin = ({ pace, running, settling }: DomainLines.Line<Delivery>) =>
    running < pace.places && running + settling < 2 * pace.places

  const queueUp = (line: DomainLines.Line<Delivery>) => {
    if (line.isInTurn || line.held.length === 0 || !mayBegin(line)) return
    line.isInTurn = true
    inTurn.push(line)
  }

  /** The next line. Lines of workspaces with their full share come last. */
  const nextInTurn = (): DomainLines.Line<Delivery> | undefined => {
    const first = inTurn.findIndex(
      ({ workspaceId }) => workspaceId === undefined || (runningOf.get(workspaceId) ?? 0) < rooms.mostOfWorkspace
    )
    return first <= 0 ? inTurn.shift() : inTurn.splice(first, 1)[0]
  }

  /** Starts deliveries while slots are free. A request that ends within `begin` frees its slot for this loop. */
  const beginNext = () => {
    if (isBeginning) return
    isBeginning = true
    while (running < concurrency) {
      const line = nextInTurn()
      if (line === undefined) break
      line.isInTurn = false
      // Its webhook may have hung since.
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

  /** Drops waiting deliveries. They remain in the table. */
  const drop = (line: DomainLines.Line<Delivery>, dropped: ReadonlyArray<Delivery>) => {
    if (dropped.length === 0) return
    for (const { payload } of dropped) waitingBytes -= payload.byteLength
    limited.add(line.domainId)
    grow(line, -dropped.length)
    giveBack(dropped)
  }

  /** Accepts a delivery with a slot. */
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
    /** Reserves slots for a domain without older deliveries in the table, which come first. A hung domain gets none. */
    reserve: (domainId: DomainId, most: number): number => {
      if (isStopped || limited.has(domainId)) return 0
      const line = lineOf(domainId)
      const places = line.pace.standing === "hung" ? 0 : takePlaces(line, most, false)
      // Deliveries without a slot are claimed later.
      if (places < most) limited.add(domainId)
      return places
    },

    /** Releases reserved slots. */
    release,

    /** Accepts a delivery with a reserved slot. */
    fill: hold,

    /**
     * Reserves up to `most` slots for domains with deliveries in the table, in equal parts, longest waiting first.
     * Returns the slots per domain, and whether some domains got none.
     */
    admit: (waiting: ReadonlyArray<Waiting>, most: number) => {
      isFull = waitingBytes >= mostWaitingBytes
      isCrowded = false
      const admitted = new Map<DomainId, number>()
      if (isStopped || isFull) return { admitted, isCut: false }
      // Domains not listed as waiting have nothing in the table.
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

    /** Bytes of payloads a claim may load. */
    roomForBytes: () => Math.max(1, mostWaitingBytes - waitingBytes),

    /** Accepts claimed deliveries and releases unused slots. Returns true if another claim may follow at once. */
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

    /** Number of paused webhooks to try now. */
    roomForProbes: (most: number): number => (isStopped ? 0 : Math.min(most, rooms.forProbes())),

    /** Accepts the trial deliveries of paused webhooks. */
    takeProbes: (claimed: ReadonlyArray<Delivery>) => {
      for (const delivery of claimed) {
        grow(lineOf(delivery.domainId), 1)
        hold(delivery)
      }
    },

    /** Frees the slot of a finished request, before its outcome is stored. */
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

    /** The outcome of a request is stored, or storing it failed. */
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

    /** Notes that a domain has more in the table but no free slots. */
    isBusy: (domainId: DomainId) => {
      if (!limited.has(domainId)) return false
      const line = lineOf(domainId)
      return !isLow(line) || rooms.sharedOf(line, true) === 0
    },

    /** Open requests plus unstored outcomes. */
    underWay: () => running + settling,

    /** Stops accepting, and returns the waiting deliveries. */
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
