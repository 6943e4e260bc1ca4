import { Context, Effect, Exit, FiberSet, Layer, Metric, Schema } from "effect"
import * as ParserPools from "./ParserPools.ts"
import type { ReadResult, ReadTask } from "./ReadTask.ts"

const messages = Metric.counter("inlet_messages_read_total", {
  description: "Messages that became events, by how much could be read"
})

const messagesBy = {
  full: Metric.withAttributes(messages, { parse: "full" }),
  partial: Metric.withAttributes(messages, { parse: "partial" }),
  headers: Metric.withAttributes(messages, { parse: "headers" })
}

const lessDeep = { full: "headers", headers: "nothing" } as const

/** No thread could parse the message, and its bytes could not be loaded for another. */
export class Unread extends Schema.TaggedError<Unread>()("Unread", { message: Schema.String }) {}

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
    /** Starts a thread, so that the first message does not wait for it. */
    readonly warmUp: Effect.Effect<void>
  }
>()("inlet/reading/ParserThreads") {
  static readonly layer = Layer.effect(
    ParserThreads,
    Effect.gen(function* () {
      const pool = yield* ParserPools.make("delivery")
      const context = yield* Effect.context()
      const fork = yield* FiberSet.makeRuntime()

      /** Parses a message once, in a thread of the pool. */
      const parse = <E>(tenant: string, task: ReadTask, message: Uint8Array, reload: Effect.Effect<Uint8Array, E>) =>
        Effect.callback<ReadResult, ThreadFailed>((resume) => {
          pool.submit({
            tenant,
            task,
            message,
            bytes: message.byteLength,
            reload: (then) =>
              void fork(reload).addObserver((exit) => then(Exit.isSuccess(exit) ? exit.value : undefined)),
            // The result of a read task has the requested type.
            answer: (result) => resume(Effect.succeed(result as ReadResult)),
            fail: (reason, isUnparsable) => resume(Effect.fail(new ThreadFailed({ reason, isUnparsable })))
          })
        })

      const read: ParserThreads["Service"]["read"] = (tenant, task, message, reload) =>
        parse(tenant, task, message, reload).pipe(
          Effect.tap(({ parse }) => Effect.sync(() => messagesBy[parse].updateUnsafe(1, context))),
          Effect.catch(
            Effect.fnUntraced(function* ({ isUnparsable, reason }) {
              const { depth } = task
              if (!isUnparsable || depth === "nothing") return yield* new Unread({ message: reason })
              const less = depth === "full" ? "headers" : "envelope"
              yield* Effect.logWarning(`A message could not be parsed in full. Parsing its ${less}`, reason)
              const again = yield* Effect.mapError(
                reload,
                () => new Unread({ message: "its bytes could not be loaded again" })
              )
              return yield* read(tenant, { ...task, depth: lessDeep[depth] }, again, reload)
            })
          )
        )

      return ParserThreads.of({ read, warmUp: Effect.sync(() => pool.warmUp()) })
    })
  )
}
