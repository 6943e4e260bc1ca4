/**
 * What is known of a webhook: nothing yet, that it hung when it was asked last, that it
 * answers slowly, or that it answers at once.
 */
export type Standing = "new" | "hung" | "slow" | "quick"

/** An answer that takes longer is a slow one. */
const slowMillis = 1_000

/** How many requests a domain may have at a time, by what became of those before. */
export interface Pace {
  places: number
  standing: Standing
}

/** Nothing is known of it: one place. */
export const initial = (): Pace => ({ places: 1, standing: "new" })

/** Whether it has one place because nothing better is known of it. */
export const isAtOne = ({ standing }: Pace) => standing === "new" || standing === "hung"

/**
 * A request has ended: a success doubles the places, and after a hang there is one again.
 * A hang is a request that took all its time, whatever was answered at its start.
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
  // A refusal says nothing of what is not known yet.
  if (isSuccess || !isAtOne(pace)) pace.standing = millis >= slowMillis ? "slow" : "quick"
}
