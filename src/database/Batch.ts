import { PgTypes } from "@effect/sql-pg"
import { Effect, Exit, FiberSet, Option, Result } from "effect"

interface Waiting<In, Out, E> {
  readonly item: In
  readonly bytes: number
  readonly resume: (result: Effect.Effect<Out, E>) => void
}

/**
 * One statement for everybody who waits. While one runs, what comes collects,
 * and goes together with the next. A statement begins at the end of a turn of
 * the event loop, so that what came with the same packets goes together; who
 * comes alone waits for nobody. Should a batch fail because of one of its
 * items, each is tried by itself.
 */
export const make = Effect.fnUntraced(function* <In, Out, E>(
  run: (items: ReadonlyArray<In>) => Effect.Effect<ReadonlyArray<Out>, E>,
  options: {
    /** Statements at a time. */
    readonly lanes: number
    readonly most: number
    readonly mostBytes: number
    readonly bytesOf: (item: In) => number
    /** Whether a failure has nothing to do with the items. */
    readonly isOutage: (error: E) => boolean
  }
) {
  const fork = yield* FiberSet.makeRuntime()
  const waiting: Array<Waiting<In, Out, E>> = []
  let lanes = 0
  let isBeginning = false

  const take = () => {
    let bytes = 0
    let count = 0
    while (count < Math.min(waiting.length, options.most)) {
      bytes += waiting[count]?.bytes ?? 0
      if (count > 0 && bytes > options.mostBytes) break
      count++
    }
    return waiting.splice(0, count)
  }

  const single = ({ item, resume }: Waiting<In, Out, E>) =>
    Effect.map(Effect.exit(run([item])), (exit) => resume(resultAt(exit, 0)))

  const together = (batch: ReadonlyArray<Waiting<In, Out, E>>) =>
    Effect.flatMap(Effect.exit(run(batch.map(({ item }) => item))), (exit) => {
      if (Exit.isFailure(exit) && batch.length > 1 && !Option.exists(Exit.findErrorOption(exit), options.isOutage)) {
        return Effect.forEach(batch, single, { discard: true })
      }
      return Effect.sync(() => {
        for (const [index, { resume }] of batch.entries()) resume(resultAt(exit, index))
      })
    })

  const lane: Effect.Effect<void> = Effect.suspend(() => {
    const batch = take()
    return batch.length === 0
      ? Effect.sync(() => {
          lanes--
        })
      : Effect.andThen(together(batch), lane)
  })

  const begin = () => {
    isBeginning = false
    if (waiting.length === 0 || lanes >= options.lanes) return
    lanes++
    fork(lane)
  }

  return (item: In): Effect.Effect<Out, E> =>
    Effect.callback((resume) => {
      const own: Waiting<In, Out, E> = { item, bytes: options.bytesOf(item), resume }
      waiting.push(own)
      if (!isBeginning && lanes < options.lanes) {
        isBeginning = true
        setImmediate(begin)
      }
      return Effect.sync(() => {
        const at = waiting.indexOf(own)
        if (at !== -1) waiting.splice(at, 1)
      })
    })
})

type ColumnType = "uuid" | "text" | "bytea" | "timestamptz" | "bool" | "int4" | "int8" | "float8"

/** Parameters for `unnest`, each with one value of every row; the type is told, for nulls alone have none. */
export const columnsOf =
  <Row>(rows: ReadonlyArray<Row>) =>
  (type: ColumnType, value: (row: Row) => unknown) =>
    Result.getOrThrow(PgTypes.array(rows.map(value), PgTypes.OID[type]))

const resultAt = <Out, E>(exit: Exit.Exit<ReadonlyArray<Out>, E>, index: number): Effect.Effect<Out, E> => {
  if (Exit.isFailure(exit)) return Effect.failCause(exit.cause)
  const result = exit.value[index]
  return result === undefined ? Effect.die("A batch has no result for one of its items") : Effect.succeed(result)
}
