import { type DateTime, Effect } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { Events, Filter } from "./Events.ts"

/** Why a wait passed over mail that came: the rules or the scanner hold it, or it has no such code, link or file. */
export type Reason = "held" | "lacks"

/**
 * Tells an empty wait from one that passed over mail for the same addresses, after the same mark or since it began. Null
 * if none came. It costs up to three reads of one event.
 */
export const reason = Effect.fn("PassedOver.reason")(function* (
  events: Events["Service"],
  domainId: DomainId,
  { after, from, has, only, recipient, since, trust, webhook }: Filter,
  began: DateTime.Utc
) {
  // By its end, `latest` would be later than all mail.
  const place = after === undefined || after === "latest" ? { since: since ?? began } : { after, since }
  const came = (narrowed: Pick<Filter, "trust" | "has">) =>
    Effect.map(
      events.list(domainId, { from, only, recipient, webhook, ...place, ...narrowed }, { limit: 1, order: "desc" }),
      ({ items }) => items.length > 0
    )
  if (trust === "passed" && (yield* came({ trust: "held" }))) return "held" as const
  if (has === undefined || !(yield* came({ trust }))) return null
  // One that has it was given to this session before.
  return (yield* came({ trust, has })) ? null : ("lacks" as const)
})

/** What the mail lacks, with its article. A link without a key of its own verifies, resets and invites nobody. */
export const lacking = (has: Filter["has"]): string =>
  has === "attachment" ? "an attachment" : has === "link" ? "a link that has a key of its own" : "a code"
