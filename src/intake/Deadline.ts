import { Effect } from "effect"
import * as Patience from "../database/Patience.ts"
import { notStored } from "./NotStored.ts"

/** A database or a store that hangs must not hold up the sender, which is told to come back. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), {
    duration: "8 seconds",
    orElse: () => notStored("no answer within 8 seconds")
  })
