import type * as WebhookLines from "./WebhookLines.ts"

/**
 * The slots for leased deliveries of a fast webhook: one batch of requests in progress, and two waiting. If the webhook
 * hangs, waiting ones are returned long before their leases end. Slow webhooks have no waiting deliveries.
 */
export const turns = 3

/**
 * Divides the total concurrency. A webhook that will hang cannot be recognized before its first request, so unknown
 * ones get little. Webhooks with a concurrency of 1 share at most half, and those after a hang a quarter. Slow ones
 * share a quarter. A workspace has an eighth while others wait. Once webhooks with a concurrency of 1 use an eighth, a
 * workspace gets a slot for one of its own only while it has none. So neither many webhooks of one workspace nor a
 * hundred workspaces can take all slots.
 */
export const make = (
  { taken, total }: Pick<ReturnType<typeof WebhookLines.make>, "taken" | "total">,
  concurrency: number
) => {
  const part = (divisor: number) => Math.ceil(concurrency / divisor)
  const mostAtOne = part(2)
  const mostHung = part(4)
  const mostSlow = part(4)
  const mostOfWorkspace = part(8)
  const mostInAll = concurrency * turns

  const forAll = () => Math.max(0, mostInAll - total())

  return {
    mostOfWorkspace,
    forAll,

    /** Free slots of a line, by its own limit. */
    ownOf: ({ pace, size }: WebhookLines.Line<unknown>) =>
      Math.max(0, (pace.standing === "quick" ? pace.places * turns : pace.places) - size),

    /** Free slots of a line, by the total limits. */
    sharedOf: ({ pace: { standing } }: WebhookLines.Line<unknown>, isFirstOfWorkspace: boolean) => {
      if (standing === "quick") return forAll()
      if (standing === "slow") return Math.max(0, Math.min(forAll(), mostSlow - taken.slow))
      const atOne = (isFirstOfWorkspace ? mostAtOne : mostOfWorkspace) - taken.new - taken.hung
      const hung = standing === "hung" ? mostHung - taken.hung : atOne
      return Math.max(0, Math.min(forAll(), atOne, hung))
    },

    /** Free slots for probes of paused webhooks. */
    forProbes: () => Math.max(0, Math.min(forAll(), mostAtOne - taken.new - taken.hung))
  }
}
