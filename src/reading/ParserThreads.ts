import { Context, Effect, Layer, Metric } from "effect"
import type { Reload } from "./ParserJob.ts"
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

/** Reads messages for delivery in threads, shared fairly between tenants by the processor time they use. */
export class ParserThreads extends Context.Service<
  ParserThreads,
  {
    /**
     * Reads a message, whose bytes belong to a thread from then on. Calls `answer` in every case but one: a message that
     * no thread can read in time and memory is read by its headers, and then by its envelope. Calls `fail` when a message
     * has to be read again and its bytes can't be loaded.
     */
    read(
      tenant: string,
      task: ReadTask,
      message: Uint8Array,
      how: {
        readonly reload: Reload
        readonly answer: (result: ReadResult) => void
        readonly fail: (reason: string) => void
      }
    ): void
    /** Starts a thread, so that the first message does not wait for it. */
    readonly warmUp: Effect.Effect<void>
  }
>()("inlet/reading/ParserThreads") {
  static readonly layer = Layer.effect(
    ParserThreads,
    Effect.gen(function* () {
      const pool = yield* ParserPools.make("delivery")
      const context = yield* Effect.context()
      const log = (line: string, reason: string) => void Effect.runForkWith(context)(Effect.logWarning(line, reason))

      const read: ParserThreads["Service"]["read"] = (tenant, task, message, how) => {
        pool.submit({
          tenant,
          task,
          message,
          bytes: message.byteLength,
          reload: how.reload,
          answer: (result) => {
            // A read task is answered with what it asks for.
            const read = result as ReadResult
            messagesBy[read.parse].updateUnsafe(1, context)
            how.answer(read)
          },
          fail: (reason, isUnparsable) => {
            const { depth } = task
            if (!isUnparsable || depth === "nothing") return how.fail(reason)
            log(`A message could not be read in full; reading its ${depth === "full" ? "headers" : "envelope"}`, reason)
            const less: ReadTask = { ...task, depth: lessDeep[depth] }
            how.reload((message) =>
              message === undefined ? how.fail("its bytes could not be loaded again") : read(tenant, less, message, how)
            )
          }
        })
      }

      return ParserThreads.of({ read, warmUp: Effect.sync(() => pool.warmUp()) })
    })
  )
}
