import { Clock, Effect } from "effect"
import * as WorkerThread from "../src/threads/WorkerThread.ts"
import { Ascent, type Bred } from "./Ascent.ts"
import type { Cost } from "./CostThread.ts"
import type { Dice } from "./Dice.ts"
import * as Genome from "./Genome.ts"

const script = new URL("./CostThread.ts", import.meta.url)

/** A smaller mail counts as one of this size, because each mail has a small fixed cost. */
const leastBytes = 16 * 1_024
const mebibyte = 1_048_576

/** A mail that takes longer terminates its thread and counts as this many ms. */
const patienceMillis = 30_000
const tooLong: Cost = { read: patienceMillis, content: 0 }

/** The step between the running numbers of two builds, larger than the count in any mail. */
const nonceStep = 1_000_003

/** The number of measurements of a candidate. The lowest one counts. */
const repeats = 3

type Thread = WorkerThread.WorkerThread<Uint8Array, Cost>

const measure = Effect.fnUntraced(function* (thread: Thread, genome: Genome.Genome, nonce: number) {
  const message = Genome.build(genome, nonce * nonceStep)
  const { content, read } = yield* thread.ask(message).pipe(
    Effect.timeoutOrElse({ duration: patienceMillis, orElse: () => Effect.succeed(tooLong) }),
    // Exceptions belong to the other fuzzer, but running out of memory is a cost.
    Effect.catchCause(() => Effect.succeed(tooLong))
  )
  const score = (Math.max(read, content) * mebibyte) / Math.max(leastBytes, message.length)
  const bred: Bred = { genome, bytes: message.length, score }
  return { bred, isLost: read >= patienceMillis }
})

/** Climbs until the deadline. Reports the costliest mail of each climb. */
export const run = Effect.fn("Climb.run")(function* <E, R>(
  dice: Dice,
  until: number,
  told: (best: Bred) => Effect.Effect<void, E, R>
) {
  const ascent = new Ascent(dice)
  let count = 0
  const isOver = Effect.map(Clock.currentTimeMillis, (now) => now >= until)
  const climb = Effect.fnUntraced(function* (thread: Thread) {
    let isLost = false
    while (!isLost && !(yield* isOver)) {
      const genome = ascent.next()
      let worst = yield* measure(thread, genome, ++count)
      for (let again = 1; again < repeats && !worst.isLost && ascent.isGood(worst.bred.score); again++) {
        const once = yield* measure(thread, genome, ++count)
        if (once.isLost || once.bred.score < worst.bred.score) worst = once
      }
      isLost = worst.isLost
      const best = ascent.learn(worst.bred)
      if (best !== undefined) yield* told(best)
    }
  })
  while (!(yield* isOver)) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const thread = yield* WorkerThread.make<Uint8Array, Cost>(script)
        yield* thread.ready
        // Warm up, so that the code is compiled as in a long-running thread.
        for (let time = 0; time < 3; time++) yield* thread.ask(Genome.warmUp)
        yield* climb(thread)
      })
    )
  }
  const last = ascent.end()
  if (last !== undefined) yield* told(last)
  return count
})
