import { Context, Effect, Exit, FiberSet, Layer, Metric, Schema } from "effect"
import * as ParserPools from "./ParserPools.ts"
import type { CarryResult, CarryTask, ReadResult, ReadTask, Task, TaskResult } from "./ReadTask.ts"

const messages = Metric.counter("inlet_messages_read_total", {
  description: "Messages that became events, by how much could be read"
})

const messagesBy = {
  full: Metric.withAttributes(messages, { parse: "full" }),
  partial: Metric.withAttributes(messages, { parse: "partial" }),
  headers: Metric.withAttributes(messages, { parse: "headers" })
}

const lessDeep = { full: "headers", headers: "nothing" } as const

/**
 * No thread could parse the message, or its bytes could not be loaded for another. `isBlameless` if it had a part in
 * neither.
 */
export class Unread extends Schema.TaggedError<Unread>()("Unread", {
  message: Schema.String,
  isBlameless: Schema.Boolean
}) {}

/**
 * A thread failed with a message. `isUnparsable` distinguishes a message that took too much time or memory from a
 * lost thread.
 */
class ThreadFailed extends Schema.TaggedError<ThreadFailed>()("ThreadFailed", {
  reason: Schema.String,
  isUnparsable: Schema.Boolean
}) {}

/** Parses messages for delivery in threads, shared fairly between tenants by CPU time. */
export class ParserThreads extends Context.Service<
  ParserThreads,
  {
    /**
     * Parses a message, whose bytes are transferred to a thread. `reload` loads them again. A message that exceeds
     * its time or memory is parsed by its header only, and then by its envelope.
     */
    read<E>(
      tenant: string,
      task: ReadTask,
      message: Uint8Array,
      reload: Effect.Effect<Uint8Array, E>
    ): Effect.Effect<ReadResult, Unread>
    /** Makes a message for a webhook in a format that needs it as text or with its attachments. */
    carry<E>(
      tenant: string,
      task: CarryTask,
      message: Uint8Array,
      reload: Effect.Effect<Uint8Array, E>
    ): Effect.Effect<CarryResult, Unread>
    /** Starts a thread, so that the first message does not wait for it. */
    readonly warmUp: Effect.Effect<void>
  }
>()("inlet/reading/ParserThreads") {
  static readonly layer = Layer.effect(
    ParserThreads,
    Effect.gen(function* () {
      const pool = yield* ParserPools.make("delivery")
      const context = yield* Effect.context()
      // Prometheus counts no increase in the first value of a series.
      for (const counter of Object.values(messagesBy)) counter.updateUnsafe(0, context)
      const fork = yield* FiberSet.makeRuntime()

      /** Does a task once, in a thread of the pool. An interruption drops it while it waits. */
      const run = <E>(tenant: string, task: Task, message: Uint8Array, reload: Effect.Effect<Uint8Array, E>) =>
        Effect.callback<TaskResult, ThreadFailed>((resume) => {
          const job = pool.submit({
            tenant,
            task,
            message,
            bytes: message.byteLength,
            reload: (then) =>
              void fork(reload).addObserver((exit) => then(Exit.isSuccess(exit) ? exit.value : undefined)),
            answer: (result) => resume(Effect.succeed(result)),
            fail: (reason, isUnparsable) => resume(Effect.fail(new ThreadFailed({ reason, isUnparsable })))
          })
          return Effect.sync(() => pool.cancel(job))
        })

      const carry: ParserThreads["Service"]["carry"] = (tenant, task, message, reload) =>
        run(tenant, task, message, reload).pipe(
          // The result of a carry task has the requested type.
          Effect.map((result) => result as CarryResult),
          Effect.mapError(({ isUnparsable, reason }) => new Unread({ message: reason, isBlameless: !isUnparsable }))
        )

      const read: ParserThreads["Service"]["read"] = (tenant, task, message, reload) =>
        run(tenant, task, message, reload).pipe(
          // The result of a read task has the requested type.
          Effect.map((result) => result as ReadResult),
          Effect.tap(({ parse }) =>
            Effect.sync(() => {
              if (!task.isRepeated) messagesBy[parse].updateUnsafe(1, context)
            })
          ),
          Effect.catch(
            Effect.fnUntraced(function* ({ isUnparsable, reason }) {
              const { depth } = task
              if (!isUnparsable || depth === "nothing") {
                return yield* new Unread({ message: reason, isBlameless: !isUnparsable })
              }
              const less = depth === "full" ? "headers" : "envelope"
              yield* Effect.logWarning(`A message could not be parsed in full. Parsing its ${less}`, reason)
              const again = yield* Effect.mapError(
                reload,
                () => new Unread({ message: "its bytes could not be loaded again", isBlameless: false })
              )
              return yield* read(tenant, { ...task, depth: lessDeep[depth] }, again, reload)
            })
          )
        )

      return ParserThreads.of({ carry, read, warmUp: Effect.sync(() => pool.warmUp()) })
    })
  )
}
