import { Context, Effect, Layer } from "effect"
import type * as Content from "../content/html/Content.ts"
import { Asker } from "../database/Turns.ts"
import { Unavailable } from "../model/ApiError.ts"
import * as AuthenticationResults from "../sender/AuthenticationResults.ts"
import type { ParserJob } from "./ParserJob.ts"
import * as ParserPools from "./ParserPools.ts"
import * as QuickHeader from "./QuickHeader.ts"
import type { AttachmentResult, HeaderTask, Task, TaskResult } from "./ReadTask.ts"

/** The tenant whose request is parsed, if it is not the `Asker`: all demo inboxes are one. */
export const ParsingFor = Context.Reference<string | undefined>("inlet/reading/RequestReader/ParsingFor", {
  defaultValue: () => undefined
})

/** Maximum waiting requests, of one tenant and in total. */
const mostWaitingOfTenant = 8
const mostWaiting = 64

/**
 * Parses stored mail for API requests, in a separate thread, so that delivery never waits for them. Parses one
 * message of a tenant at a time, where the tenant is `ParsingFor`, or else the request's `Asker`. Fails with
 * `Unavailable` if too many requests wait, or if a message cannot be parsed in time.
 */
export class RequestReader extends Context.Service<
  RequestReader,
  {
    /** One decoded attachment, or undefined without this index. */
    attachment(message: Uint8Array, index: number): Effect.Effect<AttachmentResult, Unavailable>
    /** A part of an event's content. Uses only its plain text if its HTML cannot be parsed. */
    content(payload: string, request: Content.ContentRequest): Effect.Effect<Content.Content, Unavailable>
    /** The HTML part in an event's payload as a page for a sandboxed frame, or null without one. */
    page(payload: string): Effect.Effect<string | null, Unavailable>
    /** A message with Inlet's Authentication-Results field in front, without forged ones in its name. */
    authenticated(
      message: Uint8Array,
      task: Pick<HeaderTask, "authenticationResults" | "authservId">
    ): Effect.Effect<Uint8Array, Unavailable>
  }
>()("inlet/reading/RequestReader") {
  static readonly layer = Layer.effect(
    RequestReader,
    Effect.gen(function* () {
      const pool = yield* ParserPools.make("requests")

      /** Fails with the reason if no thread could do the task. */
      const run = (tenant: string, task: Task, bytes: number, message: () => Uint8Array) =>
        Effect.callback<TaskResult, string>((resume) => {
          const job: ParserJob = pool.submit({
            tenant,
            task,
            message: message(),
            bytes,
            reload: (then) => then(message()),
            answer: (result) => resume(Effect.succeed(result)),
            fail: (reason) => resume(Effect.fail(reason))
          })
          return Effect.sync(() => pool.cancel(job))
        })

      const admitted = <A>(read: (tenant: string) => Effect.Effect<A, string>) =>
        Effect.gen(function* () {
          const tenant = (yield* ParsingFor) ?? (yield* Asker) ?? ""
          if (pool.waitingOf(tenant) >= mostWaitingOfTenant || pool.waiting >= mostWaiting) return yield* crowded
          return yield* Effect.catch(read(tenant), (reason) =>
            Effect.andThen(
              Effect.logWarning("A stored message could not be read for a request", reason),
              Effect.fail(unreadable)
            )
          )
        })

      const attachment = Effect.fn("RequestReader.attachment")((message: Uint8Array, index: number) =>
        admitted((tenant) =>
          // The result of an attachment task has the requested type.
          Effect.map(
            run(tenant, { kind: "attachment", index }, message.byteLength, () => new Uint8Array(message)),
            (result) => result as AttachmentResult
          )
        )
      )

      const content = Effect.fn("RequestReader.content")((payload: string, request: Content.ContentRequest) => {
        const read = (tenant: string, withHtml: boolean) =>
          // The result of a content task has the requested type.
          Effect.map(
            run(tenant, { kind: "content", payload, request, withHtml }, payload.length, () => new Uint8Array()),
            (result) => result as Content.Content
          )
        return admitted((tenant) =>
          Effect.catch(read(tenant, true), (reason) =>
            Effect.andThen(
              Effect.logWarning("The HTML of an event could not be parsed. Using its plain text", reason),
              read(tenant, false)
            )
          )
        )
      })

      const page = Effect.fn("RequestReader.page")((payload: string) =>
        admitted((tenant) =>
          // The result of a page task has the requested type.
          Effect.map(
            run(tenant, { kind: "page", payload }, payload.length, () => new Uint8Array()),
            (result) => result as string | null
          )
        )
      )

      const authenticated: RequestReader["Service"]["authenticated"] = Effect.fn("RequestReader.authenticated")(
        function* (message, task) {
          if (QuickHeader.isShort(message)) return AuthenticationResults.put({ ...task, message })
          const [header, rest] = AuthenticationResults.split(message)
          const isWhole = rest.byteLength === 0
          return yield* admitted((tenant) =>
            // The result of a header task has the requested type.
            Effect.map(
              run(tenant, { ...task, kind: "header", isWhole }, header.byteLength, () => new Uint8Array(header)),
              (result) => Buffer.concat([result as Uint8Array, rest])
            )
          )
        }
      )

      return RequestReader.of({ attachment, content, page, authenticated })
    })
  )
}

const crowded = new Unavailable({
  message: "Too many requests for content, HTML and attachments are waiting. Retry in 5 s"
})

const unreadable = new Unavailable({
  message: "This mail could not be parsed in time. Download the raw message instead"
})
