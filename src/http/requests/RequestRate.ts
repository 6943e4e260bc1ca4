/** The remaining requests of an owner. */
interface Bucket {
  tokens: number
  at: number
}

/** The decision, the seconds to wait if refused, and the rate limit headers. */
export interface Taken {
  readonly isAllowed: boolean
  readonly retryAfter: number
  readonly headers: Readonly<Record<string, string>>
}

/** Owners to remember before those at their full burst are forgotten. */
const swept = 10_000

/** Remembered owners to look at for each new one, so that more are forgotten than added. */
const looksPerOwner = 2

/**
 * Limits requests per owner by a token bucket: a rate per second and a burst. Adds headers as in
 * draft-ietf-httpapi-ratelimit-headers. Zero per second is no limit.
 */
export const make = ({ burst, perSecond }: { readonly burst: number; readonly perSecond: number }) => {
  const buckets = new Map<string, Bucket>()
  const window = Math.max(1, Math.ceil(burst / perSecond))

  const refilled = ({ at, tokens }: Bucket, now: number) =>
    Math.min(burst, tokens + (Math.max(0, now - at) / 1_000) * perSecond)

  const taken = (owner: string, now: number, wanted: number, least: 0 | 1): Taken => {
    if (perSecond === 0) return { isAllowed: true, retryAfter: 0, headers: {} }
    const bucket = bucketOf(owner, now)
    bucket.tokens = refilled(bucket, now)
    bucket.at = now
    const isAllowed = bucket.tokens >= least
    if (isAllowed) bucket.tokens -= wanted
    const untilFull = Math.ceil((burst - bucket.tokens) / perSecond)
    return {
      isAllowed,
      retryAfter: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      headers: {
        "ratelimit-policy": `"workspace";q=${burst};w=${window}`,
        ratelimit: `"workspace";r=${Math.max(0, Math.floor(bucket.tokens))};t=${untilFull}`
      }
    }
  }

  const bucketOf = (owner: string, now: number): Bucket => {
    const known = buckets.get(owner)
    if (known !== undefined) return known
    if (buckets.size >= swept) forget(now)
    const made = { tokens: burst, at: now }
    buckets.set(owner, made)
    return made
  }

  let turn = buckets.entries()

  /** Forgets the next owners if they are at their full burst. */
  const forget = (now: number) => {
    for (let looks = 0; looks < looksPerOwner; looks++) {
      const { done, value } = turn.next()
      if (done === true) turn = buckets.entries()
      else if (refilled(value[1], now) >= burst) buckets.delete(value[0])
    }
  }

  return {
    /** The number of known owners. */
    remembered: () => buckets.size,
    /** Takes a token if there is one, or only checks for one. */
    take: (owner: string, now: number, wanted: 0 | 1) => taken(owner, now, wanted, 1),
    /**
     * Charges the additional cost of a request, unless the owner is already in debt. Later requests wait until it is
     * paid.
     */
    charge: (owner: string, now: number, tokens: number) => taken(owner, now, tokens, 0)
  }
}
