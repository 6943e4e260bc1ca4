import * as LocalPart from "../../model/LocalPart.ts"
import { catchAll, type Route } from "../../model/Webhook.ts"
import * as Glob from "./Glob.ts"

const isGlob = (pattern: string) => pattern.includes("*")

/** The characters of a pattern that are not `*`. */
const literals = (pattern: string) => pattern.replaceAll("*", "").length

/** A name also takes addresses with a tag: `support` takes `support+tag`. */
const globOf = (pattern: string) => (isGlob(pattern) ? pattern : `${pattern}+*`)

/** For a tagged address a name counts before globs with as many literal characters, and after its own `name+*`. */
const rank = (pattern: string) => literals(pattern) + (isGlob(pattern) ? 0 : 0.5)

/** Sorts routes in the order in which they count: most literal characters first, the catch-all last. */
export const inOrder = <A extends Pick<Route, "pattern">>(routes: ReadonlyArray<A>): ReadonlyArray<A> =>
  routes.toSorted((one, other) => rank(other.pattern) - rank(one.pattern) || (one.pattern < other.pattern ? -1 : 1))

export const localPartOf = (address: string) => address.slice(0, Math.max(0, address.lastIndexOf("@")))

/** The local part as patterns see it: its text in lower case. */
const seen = (localPart: string) => LocalPart.unquoted(localPart).toLowerCase()

/** True if the pattern takes this local part. */
export const takes = (pattern: string, localPart: string): boolean => {
  const text = seen(localPart)
  return pattern === text || Glob.matches(globOf(pattern), text)
}

/** True if some local part is taken by both patterns. */
export const meet = (one: string, other: string): boolean =>
  one === other || [one, globOf(one)].some((a) => [other, globOf(other)].some((b) => Glob.overlap(a, b)))

/**
 * The route of a local part: the exact name first, then the pattern with the most literal characters. Undefined if none
 * takes it.
 */
export const match = <A extends Pick<Route, "pattern">>(routes: ReadonlyArray<A>, localPart: string): A | undefined => {
  const [only] = routes
  if (routes.length === 1 && only?.pattern === catchAll) return only
  const text = seen(localPart)
  let best: A | undefined
  for (const route of routes) {
    if (route.pattern === text && !isGlob(text)) return route
    if (!Glob.matches(globOf(route.pattern), text)) continue
    if (best === undefined || rank(route.pattern) > rank(best.pattern)) best = route
  }
  return best
}

/** True if two patterns count the same for some local part, so that neither of them could go first. */
export const couldTie = (one: string, other: string): boolean =>
  one === other || (rank(one) === rank(other) && isGlob(one) && Glob.overlap(one, other))

/** Why a pattern does not take a local part that `winner` takes. */
export const whyNot = (pattern: string, winner: string, localPart: string): string => {
  if (!takes(pattern, localPart)) return `${pattern} does not match`
  if (winner === seen(localPart)) return `${winner} is the exact name`
  if (pattern === catchAll) return `${winner} is more exact than the catch-all`
  return literals(winner) === literals(pattern)
    ? `${winner} is a name, which counts before a pattern with as many literal characters`
    : `${winner} has more literal characters (${literals(winner)} against ${literals(pattern)})`
}
