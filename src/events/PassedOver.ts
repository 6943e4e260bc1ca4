import { type DateTime, Effect } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { Events, Filter } from "./Events.ts"

/**
 * Why a wait passed over mail that came: a rule, the scanner or the loop guard holds it, its author is not confirmed as
 * `fromDomain`, or it has no such code, link or file.
 */
export type Reason = "held" | "unconfirmed" | "lacks"

/**
 * Tells an empty wait from one that passed over mail which else matches, after the same mark or since it began. Null if
 * none came. It costs up to four reads of one event.
 */
export const reason = Effect.fn("PassedOver.reason")(function* (
  events: Events["Service"],
  domainId: DomainId,
  { after, delivery: _, newTo, since, ...filter }: Filter,
  began: DateTime.Utc
) {
  const { fromDomain, has, trust } = filter
  // By its end, `latest` would be later than all mail, and a delivery is often in another state.
  const place = after === undefined || after === "latest" ? { since: since ?? began } : { after, since }
  const came = (changed: Filter = {}) =>
    Effect.map(
      events.list(domainId, { ...filter, ...place, ...changed }, { limit: 1, order: "desc" }),
      ({ items }) => items.length > 0
    )
  if (trust === "passed" && (yield* came({ trust: "held" }))) return "held" as const
  // Rules often hold such mail, too.
  const ofAnybody = { fromDomain: undefined, newTo, ...(trust === "passed" ? { trust: undefined } : {}) }
  const isUnconfirmed = fromDomain !== undefined && (yield* came(ofAnybody))
  if (!isUnconfirmed && (has === undefined || !(yield* came({ has: undefined })))) return null
  // One that matches came after the wait, or was given to this session before.
  if (yield* came()) return null
  return isUnconfirmed ? ("unconfirmed" as const) : ("lacks" as const)
})

/** What a mail has that a wait asks for, with its article. A link without a key of its own verifies nobody. */
const wanted = (has: Filter["has"]): string =>
  has === "attachment" ? "an attachment" : has === "link" ? "a link that has a key of its own" : "a code"

/** What came in place of the mail that was waited for, as a sentence without its period. */
export const inWords = (reason: "unconfirmed" | "lacks", { fromDomain, has }: Filter): string =>
  reason === "lacks"
    ? `Mail came without ${wanted(has)}`
    : `Mail${has === undefined ? "" : ` with ${wanted(has)}`} came from a sender that is not confirmed as ${fromDomain}`
