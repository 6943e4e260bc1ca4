import type * as DomainLines from "./DomainLines.ts"

/**
 * Deliveries of a quick webhook that are leased, in turns of its requests: one under way, and
 * two that wait for it. Should it hang, those that wait are given back long before their
 * leases end. Nothing waits for a webhook that is not quick.
 */
const turns = 3

/**
 * How much of all places a domain may have.
 *
 * Webhooks that hang can't be told from others before they are asked, so what is not known
 * to be quick gets little. Domains at one place have at most half of all places together,
 * and those of them that hung when they were asked last a quarter; slow ones have a
 * quarter. A workspace has an eighth while others wait; once domains at one have an eighth,
 * a workspace gets a place for one of its own only while it has none. So neither many
 * domains of one workspace nor a hundred workspaces leave nothing for the next one.
 */
export const make = (
  { taken, total }: Pick<ReturnType<typeof DomainLines.make>, "taken" | "total">,
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
    ownOf: ({ pace, size }: DomainLines.Line<unknown>) =>
      Math.max(0, (pace.standing === "quick" ? pace.places * turns : pace.places) - size),

    /** Free slots of a line, by the total limits. */
    sharedOf: ({ pace: { standing } }: DomainLines.Line<unknown>, isFirstOfWorkspace: boolean) => {
      if (standing === "quick") return forAll()
      if (standing === "slow") return Math.max(0, Math.min(forAll(), mostSlow - taken.slow))
      const atOne = (isFirstOfWorkspace ? mostAtOne : mostOfWorkspace) - taken.new - taken.hung
      const hung = standing === "hung" ? mostHung - taken.hung : atOne
      return Math.max(0, Math.min(forAll(), atOne, hung))
    },

    /** Free slots for trials of paused webhooks. */
    forProbes: () => Math.max(0, Math.min(forAll(), mostAtOne - taken.new - taken.hung))
  }
}
