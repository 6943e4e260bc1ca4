import type { MessagePort } from "node:worker_threads"
// Must not load all of `effect`, which would be two fifths of the code that each thread retains.
import * as Result from "effect/Result"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as Mime from "../mime/Mime.ts"
import * as OwnFields from "../mime/OwnFields.ts"
import * as PortDns from "../sender/PortDns.ts"
import * as SenderCheck from "../sender/SenderCheck.ts"
import type * as SenderVerdicts from "../sender/SenderVerdicts.ts"
import * as KindRoute from "../webhooks/routes/KindRoute.ts"
import * as Answer from "./Answer.ts"
import * as Carry from "./Carry.ts"
import * as DamagedParts from "./DamagedParts.ts"
import * as EventPayload from "./EventPayload.ts"
import * as Insight from "./Insight.ts"
import * as Judge from "./Judge.ts"
import { PayloadBytes } from "./PayloadBytes.ts"
import { ProcessorTime } from "./ProcessorTime.ts"
import {
  type AttachmentTask,
  type Batch,
  type CarryTask,
  type Judged,
  mostBytesToParse,
  mostToParse,
  type ReadTask,
  type RequestResult,
  type Results,
  type Task,
  type ThreadSettings
} from "./ReadTask.ts"
import * as RequestAnswer from "./RequestAnswer.ts"

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
  readonly answers: Array<Results["answers"][number]>
  readonly carried: Array<Results["carried"][number]>
  readonly failed: Array<Results["failed"][number]>
  readonly aside: Set<number>
  readonly held: Array<number>
  bytesRead: number
}

const nothing = (): Gathered => ({
  read: [],
  answers: [],
  carried: [],
  failed: [],
  aside: new Set(),
  held: [],
  bytesRead: 0
})

/** What is done with a parsed message, whose damaged parts are decoded. */
type Then = (opened: Mime.Opened, mended: Mime.Mended) => void

/** Parses the messages of one thread, and tells what became of them. */
class ThreadReader {
  readonly #port: MessagePort
  readonly #settings: ThreadSettings
  readonly #time = new ProcessorTime()
  readonly #check: ReturnType<typeof SenderCheck.make>
  readonly #payloads = new PayloadBytes(2 * mostBytesGathered)
  #gathered = nothing()
  #isTelling = false
  /** Messages with a checked sender, by number, with their continuation after the release. */
  readonly #held = new Map<number, () => void>()

  constructor(port: MessagePort, settings: ThreadSettings) {
    this.#port = port
    this.#settings = settings
    const { dnsPort } = settings
    this.#check = SenderCheck.make({ ...settings, instead: dnsPort && PortDns.ask(dnsPort) })
  }

  /** Takes a batch. */
  take({ handed, letOn }: Batch): void {
    for (const { isHeld, message, number, task } of handed) {
      this.#attempt(number, () => this.#work(number, task, message, isHeld))
    }
    for (const number of letOn) {
      const goOn = this.#held.get(number)
      this.#held.delete(number)
      if (goOn !== undefined) this.#attempt(number, goOn)
    }
  }

  #tell(): void {
    this.#isTelling = false
    const { aside, bytesRead: _, ...rest } = this.#gathered
    this.#gathered = nothing()
    const results: Results = {
      tag: "results",
      ...rest,
      payloads: this.#payloads.take(),
      aside: [...aside],
      used: this.#time.take()
    }
    this.#port.postMessage(results, [results.payloads, ...results.carried.map(({ bytes }) => bytes)])
  }

  /** At the end of an event-loop turn, when most of a batch is done. */
  #tellSoon() {
    const { bytesRead, read } = this.#gathered
    if (read.length >= mostGathered || bytesRead >= mostBytesRead || this.#payloads.length > mostBytesGathered)
      return this.#tell()
    if (this.#isTelling) return
    this.#isTelling = true
    setImmediate(() => {
      if (this.#isTelling) this.#tell()
    })
  }

  #render(
    number: number,
    task: ReadTask,
    message: Uint8Array<ArrayBuffer>,
    messageBytes: number,
    contents: Mime.Contents,
    checked: SenderVerdicts.Checked
  ): void {
    const { depth: _depth, envelope, kind: _kind, recipients, rules: _rules, verdicts, ...about } = task
    const insight = Insight.of(contents, envelope.from)
    const judge = Judge.make(task, checked, contents)
    const judged: Array<Judged> = []
    const events = recipients.map(({ address, eventId, route }) => {
      const place = KindRoute.of(route, insight.kind.type)
      const { hold, trust } = judge(address, place.id)
      judged.push({ hold, webhookId: place.id, isConfirmed: trust.aligned })
      return EventPayload.render({
        ...about,
        eventId,
        recipient: address,
        route: place,
        envelope,
        contents,
        insight,
        authentication: verdicts ?? SenderCheck.verdictsFor(checked, contents.from),
        trust,
        authservId: this.#settings.authservId,
        messageBytes
      })
    })
    this.#gathered.aside.delete(number)
    this.#gathered.bytesRead += message.byteLength
    this.#gathered.read.push({
      number,
      lengths: this.#payloads.add(events.map(({ payload }) => payload)),
      judged,
      isAnswer: Answer.isOne(contents, insight.kind),
      sender: contents.from ?? envelope.from,
      subject: contents.subject.slice(0, mostSubject),
      // The same for all recipients.
      traits: events[0]?.traits ?? 0,
      threadId: events[0]?.threadId ?? "",
      messageKey: events[0]?.messageKey ?? null,
      parse: contents.parse,
      authenticationResults: checked.field
    })
    // Released explicitly: as external memory left to the garbage collector, they tripled the full collections.
    message.buffer.transfer(0)
    this.#tellSoon()
  }

  #fail(number: number, reason: unknown): void {
    this.#gathered.failed.push({ number, reason: String(reason) })
    this.#tellSoon()
  }

  /** A message that waits for an answer does not delay the messages after it. */
  #aside<A>(number: number, work: Promise<A>, then: (result: A) => void): void {
    this.#gathered.aside.add(number)
    work.then(
      (result) => this.#attempt(number, () => then(result)),
      (reason) => this.#fail(number, reason)
    )
    this.#tellSoon()
  }

  /**
   * A bug costs one message its details, not the thread. The number identifies the message if the thread is stopped.
   */
  #attempt(number: number, work: () => void): void {
    Atomics.store(this.#settings.current, 0, number)
    this.#time.begin(number)
    const done = Result.try(work)
    this.#time.end()
    Atomics.store(this.#settings.current, 0, 0)
    if (Result.isFailure(done)) this.#fail(number, done.failure)
  }

  /** Runs before the message is parsed, so that only its bytes are in memory while it waits for DNS. */
  #checkSender(number: number, task: ReadTask, received: Uint8Array, then: (checked: SenderVerdicts.Checked) => void) {
    if (task.verdicts !== null) return then(SenderCheck.given(task.verdicts, this.#settings))
    if (!this.#settings.senderChecks || task.depth === "nothing") return then(SenderCheck.unchecked)
    this.#aside(number, this.#check({ envelope: task.envelope, bytes: received, receivedAt: task.receivedAt }), then)
  }

  /** The parsed message, with damaged parts decoded by `mailparser`. */
  #mended(number: number, message: Uint8Array, then: Then, keepsBlanks = false): void {
    const opened = Mime.open(message, { keepsBlanks })
    if (opened.damaged.length === 0) then(opened, new Map())
    else this.#aside(number, DamagedParts.mend(opened.damaged), (parts) => then(opened, parts))
  }

  #parse(
    number: number,
    task: ReadTask,
    message: Uint8Array<ArrayBuffer>,
    bytes: number,
    checked: SenderVerdicts.Checked
  ) {
    // A missing or damaged message has no bytes. A valid one has at least the trace fields.
    if (task.depth !== "full" || message.byteLength === 0) {
      const contents = Mime.headersOnly(task.depth === "headers" ? message : new Uint8Array())
      return this.#render(number, task, message, bytes, contents, checked)
    }
    this.#mended(number, message, (opened, parts) =>
      this.#render(number, task, message, bytes, opened.read(parts), checked)
    )
  }

  #read(number: number, task: ReadTask, message: Uint8Array<ArrayBuffer>, isHeld: boolean): void {
    const received = asReceived(message)
    const bytes = received.byteLength
    this.#checkSender(number, task, received, (checked) => {
      if (!isHeld) return this.#parse(number, task, message, bytes, checked)
      this.#held.set(number, () => this.#parse(number, task, message, bytes, checked))
      this.#gathered.aside.delete(number)
      this.#gathered.held.push(number)
      this.#tellSoon()
    })
  }

  #answer(number: number, answer: RequestResult): void {
    this.#gathered.answers.push({ number, answer })
    this.#tellSoon()
  }

  #attachment(number: number, { index }: AttachmentTask, message: Uint8Array): void {
    this.#mended(number, message, (opened, parts) => {
      this.#answer(number, opened.attachments(parts)[index])
    })
  }

  #carry(number: number, task: CarryTask, message: Uint8Array<ArrayBuffer>): void {
    const finish = (opened?: Mime.Opened, mended?: Mime.Mended) => {
      this.#gathered.carried.push({ number, ...Carry.make(task, message, opened, mended) })
      message.buffer.transfer(0)
      this.#tellSoon()
    }
    if (task.withParts || task.withText) this.#mended(number, message, finish, task.withText)
    else finish()
  }

  #work(number: number, task: Task, message: Uint8Array<ArrayBuffer>, isHeld: boolean): void {
    if (task.kind === "read") this.#read(number, task, message, isHeld)
    else if (task.kind === "carry") this.#carry(number, task, message)
    else if (task.kind === "attachment") this.#attachment(number, task, message)
    else this.#answer(number, RequestAnswer.of(task, message))
  }
}

/** Parses what the port brings. */
export const serve = (port: MessagePort, settings: ThreadSettings): void => {
  const reader = new ThreadReader(port, settings)
  port.on("message", (batch: Batch) => reader.take(batch))
  port.postMessage("ready")
}
