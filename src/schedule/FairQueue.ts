/** Usage below this counts as none. */
const floor = 0.5

/** Tenants without queued items whose usage is forgotten once there are this many. */
const mostIdle = 1_000

interface Account<Item> {
  readonly tenant: string
  readonly items: Array<Item>
  /** Base-2 logarithm of the decayed usage, plus the time in half-lives, which makes it constant during the decay. */
  level: number
  /** Its bucket, or undefined without items. */
  bucket: number | undefined
}

/**
 * A queue shared by tenants. The next item belongs to the tenant with the least recent usage, in the order of that
 * tenant's items. Usage is charged in any unit, such as milliseconds or KiB, and halves every `halfLifeMilliseconds`.
 * Tenants whose usage differs by less than a factor of two alternate.
 */
export class FairQueue<Item> {
  readonly #now: () => number
  readonly #halfLife: number
  readonly #accounts = new Map<string, Account<Item>>()
  /** Tenants with items, by the integer part of their level. */
  readonly #buckets = new Map<number, Set<Account<Item>>>()
  #size = 0
  #tenants = 0

  constructor(options: { readonly now: () => number; readonly halfLifeMilliseconds: number }) {
    this.#now = options.now
    this.#halfLife = options.halfLifeMilliseconds
  }

  /** Queued items. */
  get size(): number {
    return this.#size
  }

  /** Tenants with queued items. */
  get tenants(): number {
    return this.#tenants
  }

  /** Tenants without queued items whose usage is remembered. */
  get idle(): number {
    return this.#accounts.size - this.#tenants
  }

  /** Queued items of one tenant. */
  sizeOf(tenant: string): number {
    return this.#accounts.get(tenant)?.items.length ?? 0
  }

  /** Adds an item, before or behind the others of its tenant. */
  push(tenant: string, item: Item, isFirst = false): void {
    const account = this.#account(tenant)
    if (isFirst) account.items.unshift(item)
    else account.items.push(item)
    this.#size++
    this.#enqueue(account)
  }

  /**
   * Removes and returns the next item. `choose` sees the first item of each tenant in order. It takes the item, skips
   * the tenant, or ends the search.
   */
  take(choose: (item: Item, tenant: string) => "take" | "skip" | "stop"): Item | undefined {
    for (const bucket of [...this.#buckets.keys()].sort((one, other) => one - other)) {
      for (const account of this.#buckets.get(bucket) ?? []) {
        const [first] = account.items
        if (first === undefined) continue
        const choice = choose(first, account.tenant)
        if (choice === "stop") return undefined
        if (choice === "skip") continue
        account.items.shift()
        this.#size--
        // After the other tenants of its bucket.
        this.#dequeue(account)
        this.#enqueue(account)
        return first
      }
    }
    return undefined
  }

  /** Removes an item that is still queued. Returns whether it was. */
  remove(tenant: string, item: Item): boolean {
    const account = this.#accounts.get(tenant)
    const index = account?.items.indexOf(item) ?? -1
    if (account === undefined || index < 0) return false
    account.items.splice(index, 1)
    this.#size--
    if (account.items.length === 0) this.#dequeue(account)
    return true
  }

  /** Adds usage to a tenant. A negative number corrects an earlier estimate. */
  charge(tenant: string, amount: number): void {
    const account = this.#account(tenant)
    const time = this.#now() / this.#halfLife
    const used = 2 ** (account.level - time) + amount
    account.level = Math.log2(Math.max(used, floor)) + time
    if (account.bucket === undefined || account.bucket === Math.floor(account.level)) return
    this.#dequeue(account)
    this.#enqueue(account)
  }

  #account(tenant: string): Account<Item> {
    const lowest = Math.log2(floor) + this.#now() / this.#halfLife
    const known = this.#accounts.get(tenant)
    if (known !== undefined) {
      if (known.bucket === undefined) known.level = Math.max(known.level, lowest)
      return known
    }
    if (this.idle >= mostIdle) this.#forgetIdle(lowest)
    const account: Account<Item> = { tenant, items: [], level: lowest, bucket: undefined }
    this.#accounts.set(tenant, account)
    return account
  }

  #forgetIdle(lowest: number) {
    for (const [tenant, { bucket, level }] of this.#accounts) {
      if (bucket === undefined && level <= lowest + 1) this.#accounts.delete(tenant)
    }
  }

  #enqueue(account: Account<Item>) {
    if (account.items.length === 0 || account.bucket !== undefined) return
    const bucket = Math.floor(account.level)
    account.bucket = bucket
    this.#tenants++
    const others = this.#buckets.get(bucket)
    if (others === undefined) this.#buckets.set(bucket, new Set([account]))
    else others.add(account)
  }

  #dequeue(account: Account<Item>) {
    if (account.bucket === undefined) return
    const others = this.#buckets.get(account.bucket)
    others?.delete(account)
    if (others?.size === 0) this.#buckets.delete(account.bucket)
    account.bucket = undefined
    this.#tenants--
  }
}
