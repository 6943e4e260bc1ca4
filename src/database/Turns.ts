import { Clock, Context, Effect, type Scope } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Patience from "./Patience.ts"

/** The client behind a statement of the API. Undefined for mail and background work. */
export const Asker = Context.Reference<string | undefined>("inlet/database/Turns/Asker", {
  defaultValue: () => undefined
})

/** Shares database connections fairly between API clients. */
export interface Turns {
  /** Holds a connection while the effect runs. */
  within<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R>
  /** Holds a connection until the scope closes. */
  readonly taken: Effect.Effect<void, SqlError, Scope.Scope>
}

/** After this many statements of mail, or this long, the API gets one. */
const mailInARow = 16
const mailNanos = 25_000_000n

/** Session time is real time, also if a test sets the clock. */
const realNanos = () => Clock.Clock.defaultValue().currentTimeNanosUnsafe()

/**
 * Shares connections between the API's clients, one statement or transaction of each at a time, so that no client
 * waits for all statements of another. Mail has its own connections, or priority at a single one.
 */
export const make = ({
  mailShares,
  now = realNanos,
  places
}: {
  readonly places: number
  readonly mailShares: boolean
  /** The time in nanoseconds. */
  readonly now?: () => bigint
}): Turns => {
  const mail = new Set<Place>()
  const asking = new Map<string, Set<Place>>()
  let free = places
  let inARow = 0
  let mailSince = 0n

  const firstOf = (waiting: Set<Place>) => {
    for (const place of waiting) {
      waiting.delete(place)
      return place
    }
    return undefined
  }
  const nextAsked = () => {
    for (const [asker, waiting] of asking) {
      // To the end of the queue, if it has more.
      asking.delete(asker)
      const place = firstOf(waiting)
      if (waiting.size > 0) asking.set(asker, waiting)
      if (place !== undefined) return place
    }
    return undefined
  }
  const isMailsTurn = () =>
    mail.size > 0 && (asking.size === 0 || inARow === 0 || (inARow < mailInARow && now() - mailSince < mailNanos))
  const next = () => {
    if (isMailsTurn()) {
      if (inARow === 0) mailSince = now()
      inARow++
      return firstOf(mail)
    }
    inARow = 0
    return nextAsked()
  }
  const enter = (place: Place, begin: () => void) => {
    if (free > 0) {
      free--
      place.hasTurn = true
      return begin()
    }
    place.begin = begin
    if (place.asker === undefined) mail.add(place)
    else asking.set(place.asker, (asking.get(place.asker) ?? new Set()).add(place))
  }
  /** Releases the connection even if an interrupted client received it unnoticed. */
  const leave = (place: Place) =>
    Effect.sync(() => {
      if (!place.hasTurn) return forget(place)
      place.hasTurn = false
      const following = next()
      if (following === undefined) free++
      else {
        following.hasTurn = true
        following.begin()
      }
    })
  const forget = (place: Place) => {
    if (place.asker === undefined) mail.delete(place)
    else {
      const waiting = asking.get(place.asker)
      waiting?.delete(place)
      if (waiting?.size === 0) asking.delete(place.asker)
    }
  }

  const entered = (place: Place) => {
    const turn = Effect.callback<void>((resume) => enter(place, () => resume(Effect.void)))
    return place.asker === undefined ? turn : Patience.within(turn, crowded)
  }
  const placeOf = (asker: string | undefined): Place => ({ asker, hasTurn: false, begin: () => {} })
  const isFree = (asker: string | undefined) => asker === undefined && !mailShares

  return {
    within: (effect) =>
      Effect.flatMap(Asker, (asker) => {
        if (isFree(asker)) return effect
        const place = placeOf(asker)
        return Effect.ensuring(
          Effect.flatMap(entered(place), () => effect),
          leave(place)
        )
      }),
    taken: Effect.flatMap(Asker, (asker) => {
      if (isFree(asker)) return Effect.void
      const place = placeOf(asker)
      return Effect.andThen(
        Effect.addFinalizer(() => leave(place)),
        entered(place)
      )
    })
  }
}

/** A client that waits for a connection, or has it. */
interface Place {
  readonly asker: string | undefined
  hasTurn: boolean
  begin: () => void
}

const crowded = new SqlError({
  reason: new ConnectionError({ cause: new Error("Too many statements wait for the database"), operation: "acquire" })
})
