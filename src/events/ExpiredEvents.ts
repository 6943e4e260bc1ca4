import { Clock, Duration, Effect } from "effect"
import { NotFound } from "../model/ApiError.ts"
import * as Settings from "../Settings.ts"

/** A mail may wait for its event, whose id is as old as the event. */
const longestParsing = Duration.toMillis("1 hour")

/** The time in a UUIDv7 in milliseconds (RFC 9562, section 5.7), or undefined for another id. */
const millisOf = (id: string): number | undefined =>
  /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(id)
    ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    : undefined

/** Tells events that `RETENTION_DAYS` removed from those that never were, by the time in their ids. */
export const make = Effect.gen(function* () {
  const { retentionDays } = yield* Settings.limits
  const kept = Duration.toMillis(Duration.days(retentionDays))

  /** Whether an event with this id would be removed by now. */
  const isExpired = Effect.fnUntraced(function* (id: string) {
    const made = millisOf(id)
    if (retentionDays === 0 || made === undefined) return false
    return made < (yield* Clock.currentTimeMillis) - kept + longestParsing
  })

  /** The failure for an event that is not stored. */
  const missing = Effect.fnUntraced(function* (id: string, otherwise: string) {
    const days = `${retentionDays} day${retentionDays === 1 ? "" : "s"}`
    return yield* new NotFound({
      message: (yield* isExpired(id))
        ? `This event is removed: mail is kept for ${days}, and its id is older`
        : otherwise
    })
  })

  return { isExpired, missing }
})

/** The reason without one that is known. */
export const notAtDomain = "No event with this id at this domain. GET /api/domains/{id}/events lists them"
