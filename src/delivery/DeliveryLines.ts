import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as DeliveryRooms from "./DeliveryRooms.ts"
import * as Pace from "./Pace.ts"
import * as WebhookLines from "./WebhookLines.ts"

/** Maximum bytes of waiting payloads. Further deliveries stay in the table. */
const mostWaitingBytes = 64 * 1024 * 1024

/** A webhook with deliveries to claim. */
interface Waiting {
  readonly webhookId: WebhookId
  readonly workspaceId: WorkspaceId
}

interface Options<Delivery> {
  /** Maximum concurrent requests, in total and per webhook. */
  readonly concurrency: number
  readonly concurrencyPerWebhook: number
  /** Duration from which a request counts as hung. */
  readonly hangMillis: number
  /** Duration of a lease, which begins before the first of the turns that wait. */
  readonly leaseMillis: number
  /** Starts a request. Calls of `answered` and then `settled` must follow. */
  readonly begin: (delivery: Delivery) => void
  /** Called with deliveries that must stop waiting here. */
  readonly giveBack: (deliveries: ReadonlyArray<Delivery>) => void
  /** Called when slots are free and more deliveries may be claimed. */
  readonly wanting: () => void
}

/**
 * Queues this process's deliveries per webhook and starts them in order, one webhook after the other. Independent of
 * requests and the database.
 */
export class DeliveryLines<Delivery extends Waiting & { readonly payload: Uint8Array }> {
  readonly #options: Options<Delivery>
  readonly #lines = WebhookLines.make<Delivery>()
  readonly #rooms: ReturnType<typeof DeliveryRooms.make>
  /** Lines with a startable delivery, longest waiting first. */
  #inTurn: Array<WebhookLines.Line<Delivery>> = []
  /** Webhooks that may have older deliveries in the table. */
  readonly #limited = new Set<WebhookId>()
  readonly #runningOf = new Map<WorkspaceId, number>()
  /** Open requests, and outcomes being stored. */
  #running = 0
  #settling = 0
  #waitingBytes = 0
  /** True if a line got fewer slots than wanted because of total limits. */
  #isFull = false
  #isCrowded = false
  #isStopped = false
  #isBeginning = false

  constructor(options: Options<Delivery>) {
    this.#options = options
    this.#rooms = DeliveryRooms.make(this.#lines, options.concurrency)
  }

  /** Reserves slots for a webhook without older deliveries in the table, which come first. A hung one gets none. */
  reserve(webhookId: WebhookId, most: number): number {
    if (this.#isStopped || this.#limited.has(webhookId)) return 0
    const line = this.#lines.lineOf(webhookId)
    const places = line.pace.standing === "hung" ? 0 : this.#takePlaces(line, most, false)
    // Deliveries without a slot are claimed later.
    if (places < most) this.#limited.add(webhookId)
    return places
  }

  /** Releases reserved slots. */
  release(webhookId: WebhookId, places: number): void {
    if (places > 0) this.#lines.grow(this.#lines.lineOf(webhookId), -places)
  }

  /** Accepts a delivery with a reserved slot. */
  fill(delivery: Delivery): void {
    const line = this.#lines.lineOf(delivery.webhookId)
    line.workspaceId = delivery.workspaceId
    line.held.push(delivery)
    this.#waitingBytes += delivery.payload.byteLength
    this.#queueUp(line)
    this.#beginNext()
    if (this.#waitingBytes > mostWaitingBytes) this.#drop(line, line.held.splice(-1))
  }

  /**
   * Reserves up to `most` slots for webhooks with deliveries in the table, in equal parts, longest waiting first.
   * Returns the slots per webhook, and whether some got none.
   */
  admit(waiting: ReadonlyArray<Waiting>, most: number) {
    this.#isFull = this.#waitingBytes >= mostWaitingBytes
    this.#isCrowded = false
    const admitted = new Map<WebhookId, number>()
    if (this.#isStopped || this.#isFull) return { admitted, isCut: false }
    // Webhooks not listed as waiting have nothing in the table.
    this.#limited.clear()
    const workspaces = new Set<WorkspaceId>()
    for (const { pace, workspaceId } of this.#lines.all()) {
      if (workspaceId !== undefined && Pace.isAtOne(pace)) workspaces.add(workspaceId)
    }
    let left = Math.min(most, this.#rooms.forAll())
    let isCut = false
    const equalPart = Math.max(1, Math.floor(left / waiting.length))
    for (const { webhookId, workspaceId } of waiting) {
      const line = this.#lines.lineOf(webhookId)
      if (left === 0) {
        isCut = true
        this.#isFull ||= this.#rooms.forAll() === 0
      }
      const places = this.#takePlaces(line, Math.min(equalPart, left), !workspaces.has(workspaceId))
      if (places === 0) {
        this.#limited.add(webhookId)
        continue
      }
      left -= places
      admitted.set(webhookId, places)
      if (Pace.isAtOne(line.pace)) workspaces.add(workspaceId)
    }
    return { admitted, isCut }
  }

  /** Bytes of payloads a claim may load. */
  roomForBytes(): number {
    return Math.max(1, mostWaitingBytes - this.#waitingBytes)
  }

  /** Accepts claimed deliveries and releases unused slots. Returns true if another claim may follow at once. */
  take(claimed: ReadonlyArray<Delivery>, admitted: ReadonlyMap<WebhookId, number>): boolean {
    let isMore = false
    const counts = new Map<WebhookId, number>()
    for (const { webhookId } of claimed) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
    for (const [webhookId, places] of admitted) {
      const count = counts.get(webhookId) ?? 0
      if (count < places) this.release(webhookId, places - count)
      else {
        this.#limited.add(webhookId)
        isMore ||= this.#rooms.ownOf(this.#lines.lineOf(webhookId)) > 0
      }
    }
    for (const delivery of claimed) this.fill(delivery)
    return isMore
  }

  /** Number of paused webhooks to try now. */
  roomForProbes(most: number): number {
    return this.#isStopped ? 0 : Math.min(most, this.#rooms.forProbes())
  }

  /** Accepts the trial deliveries of paused webhooks. */
  takeProbes(claimed: ReadonlyArray<Delivery>): void {
    for (const delivery of claimed) {
      this.#lines.grow(this.#lines.lineOf(delivery.webhookId), 1)
      this.fill(delivery)
    }
  }

  /** Frees the slot of a finished request, before its outcome is stored. `isSuccess` is undefined without a request. */
  answered({ webhookId, workspaceId }: Delivery, isSuccess: boolean | undefined, millis: number): void {
    const { concurrencyPerWebhook, hangMillis, leaseMillis, wanting } = this.#options
    const { lineOf, taken } = this.#lines
    const line = lineOf(webhookId)
    line.running--
    line.settling++
    this.#running--
    this.#settling++
    const others = (this.#runningOf.get(workspaceId) ?? 1) - 1
    if (others === 0) this.#runningOf.delete(workspaceId)
    else this.#runningOf.set(workspaceId, others)
    const wasQuick = line.pace.standing === "quick"
    taken[line.pace.standing] -= line.size
    if (isSuccess !== undefined) Pace.heard(line.pace, isSuccess, millis, { most: concurrencyPerWebhook, hangMillis })
    taken[line.pace.standing] += line.size
    if (this.#isCrowded && !wasQuick) wanting()
    // Others would repeat the last of those that wait, because its lease would end before its answer.
    const isTooSlow = millis * DeliveryRooms.turns >= leaseMillis
    if (isTooSlow || line.pace.standing === "hung") this.#drop(line, line.held.splice(0))
    this.#queueUp(line)
    this.#beginNext()
  }

  /** The outcome of a request is stored, or storing it failed. */
  settled(webhookId: WebhookId): void {
    const line = this.#lines.lineOf(webhookId)
    this.#settling--
    line.settling--
    this.#lines.grow(line, -1)
    const wasLimited = this.#limited.has(webhookId) && isLow(line)
    const wasCrowded = this.#isCrowded && line.pace.standing !== "quick"
    const wasFull = this.#isFull && this.#lines.total() <= this.#options.concurrency
    if (wasLimited || wasCrowded || wasFull) this.#options.wanting()
    this.#queueUp(line)
    this.#beginNext()
  }

  /** Notes that a webhook has more in the table but no free slots. */
  isBusy(webhookId: WebhookId): boolean {
    if (!this.#limited.has(webhookId)) return false
    const line = this.#lines.lineOf(webhookId)
    return !isLow(line) || this.#rooms.sharedOf(line, true) === 0
  }

  /** Open requests plus unstored outcomes. */
  underWay(): number {
    return this.#running + this.#settling
  }

  /** Stops accepting, and returns the waiting deliveries. */
  stop(): ReadonlyArray<Delivery> {
    this.#isStopped = true
    this.#inTurn = []
    const held: Array<Delivery> = []
    for (const line of [...this.#lines.all()]) {
      line.isInTurn = false
      const own = line.held.splice(0)
      for (const { payload } of own) this.#waitingBytes -= payload.byteLength
      this.#lines.grow(line, -own.length)
      held.push(...own)
    }
    return held
  }

  isStopped(): boolean {
    return this.#isStopped
  }

  /** Takes up to `wanted` free slots. Deliveries without a slot wait in the table. */
  #takePlaces(line: WebhookLines.Line<Delivery>, wanted: number, isFirstOfWorkspace: boolean): number {
    const own = Math.min(wanted, this.#rooms.ownOf(line))
    const places = Math.min(own, this.#rooms.sharedOf(line, isFirstOfWorkspace))
    if (places < own) {
      if (line.pace.standing === "quick") this.#isFull = true
      else this.#isCrowded = true
    }
    if (places > 0) this.#lines.grow(line, places)
    return places
  }

  #queueUp(line: WebhookLines.Line<Delivery>): void {
    if (line.isInTurn || line.held.length === 0 || !mayBegin(line)) return
    line.isInTurn = true
    this.#inTurn.push(line)
  }

  /** The next line. Lines of workspaces with their full share come last. */
  #nextInTurn(): WebhookLines.Line<Delivery> | undefined {
    const first = this.#inTurn.findIndex(
      ({ workspaceId }) =>
        workspaceId === undefined || (this.#runningOf.get(workspaceId) ?? 0) < this.#rooms.mostOfWorkspace
    )
    return first <= 0 ? this.#inTurn.shift() : this.#inTurn.splice(first, 1)[0]
  }

  /** Starts deliveries while slots are free. A request that ends within `begin` frees its slot for this loop. */
  #beginNext(): void {
    if (this.#isBeginning) return
    this.#isBeginning = true
    while (this.#running < this.#options.concurrency) {
      const line = this.#nextInTurn()
      if (line === undefined) break
      line.isInTurn = false
      // Its webhook may have hung since.
      const next = mayBegin(line) ? line.held.shift() : undefined
      if (next === undefined) continue
      this.#waitingBytes -= next.payload.byteLength
      this.#runningOf.set(next.workspaceId, (this.#runningOf.get(next.workspaceId) ?? 0) + 1)
      line.running++
      this.#running++
      // Behind all others that wait.
      this.#queueUp(line)
      this.#options.begin(next)
    }
    this.#isBeginning = false
  }

  /** Drops waiting deliveries. They remain in the table. */
  #drop(line: WebhookLines.Line<Delivery>, dropped: ReadonlyArray<Delivery>): void {
    if (dropped.length === 0) return
    for (const { payload } of dropped) this.#waitingBytes -= payload.byteLength
    this.#limited.add(line.webhookId)
    this.#lines.grow(line, -dropped.length)
    this.#options.giveBack(dropped)
  }
}

/** True if so few deliveries are left here that more should be claimed. */
const isLow = ({ pace, size }: WebhookLines.Line<unknown>) =>
  pace.standing === "quick" ? size <= pace.places : size < pace.places

/**
 * True if a request may start. A crash repeats requests whose outcome is not stored, so a webhook has at most two
 * rounds of those.
 */
const mayBegin = ({ pace, running, settling }: WebhookLines.Line<unknown>) =>
  running < pace.places && running + settling < 2 * pace.places
