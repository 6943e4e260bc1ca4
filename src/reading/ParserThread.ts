import { platform, setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
// Must not load all of `effect`, which would be two fifths of the code that each thread retains.
import * as Result from "effect/Result"
import * as Content from "../content/html/Content.ts"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as Mime from "../mime/Mime.ts"
import * as OwnFields from "../mime/OwnFields.ts"
import * as SenderCheck from "../sender/SenderCheck.ts"
import type * as SenderVerdicts from "../sender/SenderVerdicts.ts"
import * as DamagedParts from "./DamagedParts.ts"
import * as EventPayload from "./EventPayload.ts"
import * as Insight from "./Insight.ts"
import { PayloadBytes } from "./PayloadBytes.ts"
import { ProcessorTime } from "./ProcessorTime.ts"
import {
  type AttachmentTask,
  type Batch,
  type ContentTask,
  mostBytesToParse,
  mostToParse,
  type ReadTask,
  type Results,
  type Task,
  type ThreadSettings
} from "./ReadTask.ts"

/** The maximum length of a subject for list filters. */
const mostSubject = 1_000

/**
 * The amount of results after which they are sent during a batch: half of a batch, so that the next messages arrive
 * before the rest is done, or a number of payload bytes.
 */
const mostGathered = mostToParse / 2
const mostBytesRead = mostBytesToParse / 2
const mostBytesGathered = 256 * 1024

/** Inlet's two trace fields precede every stored message. The sender signed the rest. */
const asReceived = (message: Uint8Array): Uint8Array => {
  let start = OwnFields.end(message) || HeaderBlock.fields(message.subarray(0, 4_096))[1]?.end
  if (start === undefined) return message
  // Whitespace before the first field does not belong to it.
  while (message[start] === 0x20 || message[start] === 0x09) start++
  return message.subarray(start)
}

interface Gathered {
  readonly read: Array<Results["read"][number]>
  readonly attachments: Array<Results["attachments"][number]>
  readonly contents: Array<Results["contents"][number]>
  readonly failed: Array<Results["failed"][number]>
  readonly aside: Set<number>
  readonly held: Array<number>
  bytesRead: number
}

const nothing = (): Gathered => ({
  read: [],
  attachments: [],
  contents: [],
  failed: [],
  aside: new Set(),
  held: [],
  bytesRead: 0
})

const serve = (port: NonNullable<typeof parentPort>, { current, niceness, ...settings }: ThreadSettings) => {
  // On Linux each thread has a priority. Elsewhere it would apply to the whole process.
  if (niceness > 0 && platform() === "linux") setPriority(niceness)
  const time = new ProcessorTime()
  const check = SenderCheck.make(settings)
  const payloads = new PayloadBytes(2 * mostBytesGathered)
  let gathered = nothing()
  let isTelling = false
  /** Messages with a checked sender, by number, with their continuation after the release. */
  const held = new Map<number, () => void>()

  const tell = () => {
    isTelling = false
    const { aside, bytesRead: _, ...rest } = gathered
    gathered = nothing()
    const results: Results = {
      tag: "results",
      ...rest,
      payloads: payloads.take(),
      aside: [...aside],
      used: time.take()
    }
    port.postMessage(results, [results.payloads])
  }
  /** At the end of an event-loop turn, when most of a batch is done. */
  const tellSoon = () => {
    const { bytesRead, read } = gathered
    if (read.length >= mostGathered || bytesRead >= mostBytesRead || payloads.length > mostBytesGathered) return tell()
    if (isTelling) return
    isTelling = true
    setImmediate(() => {
      if (isTelling) tell()
    })
  }

  const render = (
    number: number,
    task: ReadTask,
    message: Uint8Array<ArrayBuffer>,
    messageBytes: number,
    contents: Mime.Contents,
    checked: SenderVerdicts.Checked
  ) => {
    const { depth: _depth, envelope, kind: _kind, recipients, verdicts, ...about } = task
    const insight = Insight.of(contents, envelope.from)
    const events = recipients.map(({ address, eventId }) =>
      EventPayload.render({
        ...about,
        eventId,
        recipient: address,
        envelope,
        contents,
        insight,
        authentication: verdicts ?? SenderCheck.verdictsFor(checked, contents.from),
        authservId: settings.authservId,
        messageBytes
      })
    )
    gathered.aside.delete(number)
    gathered.bytesRead += message.byteLength
    gathered.read.push({
      number,
      lengths: payloads.add(events.map(({ payload }) => payload)),
      sender: contents.from ?? envelope.from,
      subject: contents.subject.slice(0, mostSubject),
      // The same for all recipients.
      traits: events[0]?.traits ?? 0,
      threadId: events[0]?.threadId ?? "",
      parse: contents.parse,
      authenticationResults: checked.field
    })
    // Released explicitly: as external memory left to the garbage collector, they tripled the full collections.
    message.buffer.transfer(0)
    tellSoon()
  }

  const fail = (number: number, reason: unknown) => {
    gathered.failed.push({ number, reason: String(reason) })
    tellSoon()
  }

  /** A message that waits for an answer does not delay the messages after it. */
  const aside = <A>(number: number, work: Promise<A>, then: (result: A) => void) => {
    gathered.aside.add(number)
    work.then(
      (result) => attempt(number, () => then(result)),
      (reason) => fail(number, reason)
    )
    tellSoon()
  }

  /**
   * A bug costs one message its details, not the thread. The number identifies the message if the thread is stopped.
   */
  const attempt = (number: number, work: () => void) => {
    Atomics.store(current, 0, number)
    time.begin(number)
    const done = Result.try(work)
    time.end()
    Atomics.store(current, 0, 0)
    if (Result.isFailure(done)) fail(number, done.failure)
  }

  /** Runs before the message is parsed, so that only its bytes are in memory while it waits for DNS. */
  const checkSender = (
    number: number,
    task: ReadTask,
    received: Uint8Array,
    then: (checked: SenderVerdicts.Checked) => void
  ) => {
    if (task.verdicts !== null) return then(SenderCheck.given(task.verdicts, settings))
    if (!settings.senderChecks || task.depth === "nothing") return then(SenderCheck.unchecked)
    aside(number, check({ envelope: task.envelope, bytes: received, receivedAt: task.receivedAt }), then)
  }

  /** The parsed message, with damaged parts decoded by `mailparser`. */
  const mended = (number: number, message: Uint8Array, then: (opened: Mime.Opened, mended: Mime.Mended) => void) => {
    const opened = Mime.open(message)
    if (opened.damaged.length === 0) then(opened, new Map())
    else aside(number, DamagedParts.mend(opened.damaged), (parts) => then(opened, parts))
  }

  const parse = (
    number: number,
    task: ReadTask,
    message: Uint8Array<ArrayBuffer>,
    bytes: number,
    checked: SenderVerdicts.Checked
  ) => {
    // A missing or damaged message has no bytes. A valid one has at least the trace fields.
    if (task.depth !== "full" || message.byteLength === 0) {
      const contents = Mime.headersOnly(task.depth === "headers" ? message : new Uint8Array())
      return render(number, task, message, bytes, contents, checked)
    }
    mended(number, message, (opened, parts) => render(number, task, message, bytes, opened.read(parts), checked))
  }

  const read = (number: number, task: ReadTask, message: Uint8Array<ArrayBuffer>, isHeld: boolean) => {
    const received = asReceived(message)
    const bytes = received.byteLength
    checkSender(number, task, received, (checked) => {
      if (!isHeld) return parse(number, task, message, bytes, checked)
      held.set(number, () => parse(number, task, message, bytes, checked))
      gathered.aside.delete(number)
      gathered.held.push(number)
      tellSoon()
    })
  }

  const attachment = (number: number, { index }: AttachmentTask, message: Uint8Array) =>
    mended(number, message, (opened, parts) => {
      gathered.attachments.push({ number, attachment: opened.attachment(index, parts) })
      tellSoon()
    })

  const content = (number: number, { payload, request, withHtml }: ContentTask) => {
    // Rendered by EventPayload, which writes these fields in every payload.
    const said = JSON.parse(payload) as Content.Said
    gathered.contents.push({ number, content: Content.read(withHtml ? said : { ...said, html: null }, request) })
    tellSoon()
  }

  const work = (number: number, task: Task, message: Uint8Array<ArrayBuffer>, isHeld: boolean) => {
    if (task.kind === "read") read(number, task, message, isHeld)
    else if (task.kind === "attachment") attachment(number, task, message)
    else content(number, task)
  }

  port.on("message", ({ handed, letOn }: Batch) => {
    for (const { isHeld, message, number, task } of handed) {
      attempt(number, () => work(number, task, message, isHeld))
    }
    for (const number of letOn) {
      const goOn = held.get(number)
      held.delete(number)
      if (goOn !== undefined) attempt(number, goOn)
    }
  })
  port.postMessage("ready")
}

// Only ParserThreads starts this script, and passes the settings.
if (parentPort !== null) serve(parentPort, workerData as ThreadSettings)
