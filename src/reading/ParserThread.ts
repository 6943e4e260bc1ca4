import { parentPort, workerData } from "node:worker_threads"
// Not from `effect`: that loads all of it, and every thread holds what it has loaded.
import * as Effect from "effect/Effect"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as Mime from "../mime/Mime.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as DamagedParts from "./DamagedParts.ts"
import * as EventPayload from "./EventPayload.ts"
import * as SenderCheck from "./SenderCheck.ts"

/** What a thread is started with. */
export interface ThreadSettings {
  readonly nameServers: ReadonlyArray<string> | undefined
  readonly authservId: string
  readonly senderChecks: boolean
}

/** A stored message whose events are to be written. */
export interface ReadTask {
  readonly kind: "read"
  /** The raw message as stored, trace fields in front. */
  readonly message: Uint8Array
  /** How deep it is read: less deep after a reader that did not survive more. */
  readonly depth: "full" | "headers" | "nothing"
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<{ readonly eventId: EventId; readonly recipient: string }>
  readonly about: Omit<
    Parameters<typeof EventPayload.render>[0],
    "eventId" | "recipient" | "envelope" | "contents" | "authentication" | "authservId"
  >
}

export interface ReadResult {
  /** One for each recipient, in their order. */
  readonly payloads: ReadonlyArray<string>
  readonly sender: string
  readonly parse: Mime.Contents["parse"]
  /** Our Authentication-Results field, or null where the sender was not checked. */
  readonly authenticationResults: string | null
}

export interface AttachmentTask {
  readonly kind: "attachment"
  readonly message: Uint8Array
  readonly index: number
}

export type AttachmentResult =
  | { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array }
  | undefined

/** The messages of a thread: it is ready, it has parsed a message, and the outcome of a task. */
export type Told =
  | { readonly tag: "ready" }
  | { readonly tag: "parsed"; readonly id: number }
  | { readonly tag: "done"; readonly id: number; readonly result: ReadResult | AttachmentResult }
  | { readonly tag: "failed"; readonly id: number; readonly reason: string }

/** Our own two fields stand in front of every stored message; the sender signed what follows. */
const asReceived = (message: Uint8Array): Uint8Array => {
  const [, received] = HeaderBlock.fields(message.subarray(0, 4_096))
  return received === undefined ? message : message.subarray(received.end)
}

const look = Effect.fnUntraced(function* (message: Uint8Array, depth: ReadTask["depth"]) {
  if (depth !== "full") return Mime.headersOnly(depth === "headers" ? message : new Uint8Array())
  const opened = Mime.open(message)
  return opened.read(yield* DamagedParts.mend(opened.damaged))
})

const attachment = Effect.fnUntraced(function* ({ index, message }: AttachmentTask) {
  const opened = Mime.open(message)
  return opened.attachment(index, yield* DamagedParts.mend(opened.damaged))
})

const serve = (port: NonNullable<typeof parentPort>, settings: ThreadSettings) => {
  const check = SenderCheck.make(settings)
  const tell = (told: Told) => port.postMessage(told)

  const read = Effect.fnUntraced(function* (id: number, task: ReadTask) {
    const { about, depth, envelope, message, recipients } = task
    const contents = yield* look(message, depth)
    // A sender that is checked without waiting for anybody is done before this is said.
    const telling = setImmediate(() => tell({ tag: "parsed", id }))
    const checked =
      settings.senderChecks && depth !== "nothing" ? yield* check(envelope, asReceived(message)) : SenderCheck.unchecked
    clearImmediate(telling)
    const result: ReadResult = {
      payloads: recipients.map(({ eventId, recipient }) =>
        EventPayload.render({
          ...about,
          eventId,
          recipient,
          envelope,
          contents,
          authentication: SenderCheck.verdictsFor(checked, contents.from),
          authservId: settings.authservId
        })
      ),
      sender: contents.from ?? envelope.from,
      parse: contents.parse,
      authenticationResults: checked.field
    }
    return result
  })

  port.on("message", ({ id, task }: { readonly id: number; readonly task: ReadTask | AttachmentTask }) => {
    const work: Effect.Effect<ReadResult | AttachmentResult> = task.kind === "read" ? read(id, task) : attachment(task)
    Effect.runFork(
      Effect.matchCause(work, {
        onSuccess: (result) => tell({ tag: "done", id, result }),
        onFailure: (cause) => tell({ tag: "failed", id, reason: String(cause) })
      })
    )
  })
  tell({ tag: "ready" })
}

// Started by ParserThreads alone, which passes the settings.
if (parentPort !== null) serve(parentPort, workerData as ThreadSettings)
