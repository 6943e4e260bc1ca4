import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import { Tally } from "../../cache/Tally.ts"
import { TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import { type Answer, CurrentAnswer } from "./CurrentAnswer.ts"

/** The size that a connection's own buffers hold. Smaller answers are not counted. */
const smallBytes = 16 * 1024

/** Limits the unsent bytes of answers, in total and per client, by `HTTP_MAX_ANSWER_BYTES` and `…_PER_WORKSPACE`. */
export class AnswerRoom extends Context.Service<
  AnswerRoom,
  {
    /** Reserves memory for an answer before its bytes are loaded, until it is sent, and charges the client for it. */
    reserve(bytes: number): Effect.Effect<void, TooManyRequests | Unavailable>
    /** Waits for memory for a chunk of a stream, and holds it until the scope closes. */
    whileWritten(bytes: number): Effect.Effect<void, never, Scope.Scope>
  }
>()("inlet/http/AnswerRoom") {
  static readonly layer = Layer.effect(
    AnswerRoom,
    Effect.gen(function* () {
      const { answerBytes, answerBytesPerClient } = yield* Settings.answers
      const held = new Tally()

      /** An answer larger than the limit is sent alone. */
      const isBeyond = (most: number, before: number, bytes: number) => most > 0 && before > 0 && before + bytes > most
      const refusal = (owner: string, bytes: number) => {
        if (isBeyond(answerBytesPerClient, held.of(owner), bytes)) {
          return new TooManyRequests({
            message: `Answers of ${answerBytesPerClient} bytes are waiting for you. Read them, then retry`,
            retryAfter: 1
          })
        }
        if (!isBeyond(answerBytes, held.total, bytes)) return undefined
        return new Unavailable({
          message: "The service is sending too many answers. Retry in 5 s"
        })
      }

      const reserve = Effect.fnUntraced(function* (bytes: number) {
        const answer = yield* CurrentAnswer
        const more = bytes - (answer?.reserved ?? 0)
        if (answer === undefined || bytes < smallBytes || more <= 0) return
        const { owner } = answer
        const refused = refusal(owner, more)
        if (refused !== undefined) return yield* Effect.fail(refused)
        yield* answer.charge(more)
        held.add(owner, more)
        answer.reserved += more
        answer.whenOver(() => held.add(owner, -more))
      })

      const enter = Effect.fnUntraced(function* ({ charge, owner }: Answer, bytes: number) {
        const refused = refusal(owner, bytes)
        if (refused !== undefined) return yield* Effect.fail(refused)
        yield* charge(bytes)
        held.add(owner, bytes)
      })
      const whileWritten: AnswerRoom["Service"]["whileWritten"] = (bytes) =>
        Effect.flatMap(CurrentAnswer, (answer) =>
          answer === undefined || bytes < smallBytes
            ? Effect.void
            : Effect.acquireRelease(
                Effect.retry(enter(answer, bytes), { schedule: Schedule.spaced("250 millis") }),
                () => Effect.sync(() => held.add(answer.owner, -bytes)),
                { interruptible: true }
              )
        ).pipe(Effect.orDie)

      return AnswerRoom.of({ reserve, whileWritten })
    })
  )
}
