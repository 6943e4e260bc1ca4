import { Effect, Schema } from "effect"
import * as Patience from "../database/Patience.ts"

/** We could not keep the message, so the sender must. */
export class NotKept extends Schema.TaggedError<NotKept>()("NotKept", { cause: Schema.Defect() }) {}

export const notKept = (cause: unknown) => new NotKept({ cause })

/** A database or a store that hangs must not hold up the sender: it is told to come back. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), {
    duration: "8 seconds",
    orElse: () => notKept("no answer within 8 seconds")
  })
