import { Cause, Context, Effect, Exit, FiberSet, Option } from "effect"
import { whenQuiet } from "../schedule/QuietTurn.ts"

/** How large a batch may be, and how many run at a time. */
interface Bounding<In, E> {
  /** True if a failure is independent of the items. */
  readonly isOutage: (error: E) => boolean
  readonly bytesOf: (item: In) => number
  /** Batches at a time: one. */
  readonly lanes?: number
  /** Maximum items per batch, 64 by default. */
  readonly most?: number
  /** Maximum bytes per batch unless a single item has more, 4 MiB by default. */
  readonly mostBytes?: number
  /** For items without a waiting client: wait until `enough` are there, or for this long after the first. */
  readonly gather?: { readonly millis: number; readonly enough: number }
}

interface Options<In, Out, E> extends Bounding<In, E> {
  readonly succeeded: (item: In, out: Out) => void
  readonly failed: (item: In, cause: Cause.Cause<E>) => void
}

/**
 * Processes items in batches without a fiber or promise for each. Returns a function that accepts an item. While a
 * batch runs, further items collect for the next one. A batch starts after an event-loop turn without new items
 * (`whenQuiet`), so that a single item does not wait, unless items are to `gather`. If a batch fails because of one
 * item, each item is retried alone.
 */
export const plain = <In, Out, E>(
  /** Runs the batch, and calls `ended` with the results in the order of the items. */
  run: (items: ReadonlyArray<In>, ended: (exit: Exit.Exit<ReadonlyArray<Out>, E>) => void) => void,
  options: Options<In, Out, E>
): ((item: In) => void) => {
  const { bytesOf, failed, gather, isOutage, lanes = 1, most = 64, mostBytes = 4 * 1024 * 1024, succeeded } = options
  const enough = Math.min(most, gather?.enough ?? most)
  let waiting: Array<In> = []
  let bytesWaiting = 0
  let running = 0
  let isBeginning = false
  let isGathering = false

  const take = () => {
    let bytes = 0
    let count = 0
    for (const item of waiting) {
      const own = bytesOf(item)
      if (count === most || (count > 0 && bytes + own > mostBytes)) break
      bytes += own
      count++
    }
    bytesWaiting -= bytes
    const batch = waiting
    waiting = batch.splice(count)
    return batch
  }

  const tell = (batch: ReadonlyArray<In>, exit: Exit.Exit<ReadonlyArray<Out>, E>) => {
    for (const [index, item] of batch.entries()) {
      if (Exit.isFailure(exit)) failed(item, exit.cause)
      else if (index < exit.value.length)
        succeeded(item, exit.value[index] as Out) // The index is within bounds.
      else failed(item, Cause.die("A batch has no result for one of its items"))
    }
  }

  const alone = (batch: ReadonlyArray<In>, index: number) => {
    const own = batch.slice(index, index + 1)
    if (own.length === 0) return free()
    run(own, (exit) => {
      tell(own, exit)
      alone(batch, index + 1)
    })
  }

  const together = (batch: ReadonlyArray<In>) =>
    run(batch, (exit) => {
      if (Exit.isFailure(exit) && batch.length > 1 && isOfOneItem(exit.cause)) return alone(batch, 0)
      tell(batch, exit)
      free()
    })

  const isOfOneItem = (cause: Cause.Cause<E>) =>
    !Cause.hasInterrupts(cause) && !Option.exists(Cause.findErrorOption(cause), isOutage)

  const free = () => {
    running--
    if (waiting.length > 0) soon()
  }

  const begin = () => {
    isBeginning = false
    while (waiting.length > 0 && running < lanes) {
      running++
      together(take())
    }
  }

  const isFull = () => waiting.length >= enough || bytesWaiting >= mostBytes

  const soon = () => {
    if (isBeginning || running >= lanes) return
    if (gather === undefined || isFull()) {
      isBeginning = true
      whenQuiet({ count: () => waiting.length, isFull }, begin)
    } else if (!isGathering) {
      isGathering = true
      // Without a fiber: this is on the path of each message.
      // @effect-diagnostics-next-line globalTimers:off
      setTimeout(gathered, gather.millis)
    }
  }

  const gathered = () => {
    isGathering = false
    if (!isBeginning) begin()
  }

  return (item) => {
    waiting.push(item)
    bytesWaiting += bytesOf(item)
    soon()
  }
}

/** Limits of a batch for databases with special needs. */
export const Bounds = Context.Reference<{ readonly most?: number; readonly mostBytes?: number }>(
  "inlet/database/Batcher/Bounds",
  { defaultValue: () => ({}) }
)

/** Options of a batch's span. Its stack trace is always the same and costs more than the span. */
export const spanOptions = { captureStackTrace: false } as const

/** An item of a batch, and the fiber that waits for its result. */
interface Awaited<In, Out, E> {
  readonly item: In
  readonly resume: (result: Effect.Effect<Out, E>) => void
}

/**
 * Runs each batch in a fiber, for as long as the scope is open. Returns an Effect that adds an item to a batch and
 * succeeds with its result. Interrupting it does not take the item out of its batch.
 */
export const make = Effect.fnUntraced(function* <In, Out, E>(
  run: (items: ReadonlyArray<In>) => Effect.Effect<ReadonlyArray<Out>, E>,
  options: Bounding<In, E>
) {
  const fork = yield* FiberSet.makeRuntime<never, ReadonlyArray<Out>, E>()
  const push = plain<Awaited<In, Out, E>, Out, E>(
    (all, ended) => {
      fork(Effect.suspend(() => run(all.map(({ item }) => item)))).addObserver(ended)
    },
    {
      ...(yield* Bounds),
      ...options,
      bytesOf: ({ item }) => options.bytesOf(item),
      succeeded: ({ resume }, out) => resume(Effect.succeed(out)),
      failed: ({ resume }, cause) => resume(Effect.failCause(cause))
    }
  )
  return (item: In) => Effect.callback<Out, E>((resume) => push({ item, resume }))
})
