/** The standing of a webhook: unknown, hung at the last request, slow, or quick. */
export type Standing = "new" | "hung" | "slow" | "quick"

/** Duration from which an answer counts as slow. */
const slowMillis = 1_000

/** Adapts the concurrency of a webhook to the results of its requests. */
export interface Pace {
  places: number
  standing: Standing
}

/** Without results the concurrency is 1. */
export const initial = (): Pace => ({ places: 1, standing: "new" })

/** True while the concurrency is 1 for want of successes. */
export const isAtOne = ({ standing }: Pace) => standing === "new" || standing === "hung"

/**
 * Records the end of a request. A success doubles the concurrency, a hang resets it to 1. A request that took its full
 * timeout has hung, even with a status.
 */
export const heard = (
  pace: Pace,
  isSuccess: boolean,
  millis: number,
  bounds: { readonly most: number; readonly hangMillis: number }
) => {
  if (millis >= bounds.hangMillis) {
    pace.places = 1
    pace.standing = "hung"
    return
  }
  if (isSuccess) pace.places = Math.min(pace.places * 2, bounds.most)
  // A refusal does not change an unknown standing.
  if (isSuccess || !isAtOne(pace)) pace.standing = millis >= slowMillis ? "slow" : "quick"
}
