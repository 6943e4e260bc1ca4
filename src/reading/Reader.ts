import { Cause, Clock, Context, DateTime, Effect, Exit, Layer, PartitionedSemaphore } from "effect"
import { isUnreachable } from "../database/Database.ts"
import * as FailureLog from "../database/FailureLog.ts"
import { type InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import { type Spam, unscanned } from "../model/Spam.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as LoopGuard from "../trust/LoopGuard.ts"
import * as EventWriter from "./EventWriter.ts"
import { type Mail, tenantOf } from "./Mail.ts"
import * as MailLeases from "./MailLeases.ts"
import { MailsInHand } from "./MailsInHand.ts"
import * as MissingMessages from "./MissingMessages.ts"
import * as NewEvents from "./NewEvents.ts"
import { ParserThreads } from "./ParserThreads.ts"
import * as ReadAttempts from "./ReadAttempts.ts"
import * as ReadFailure from "./ReadFailure.ts"
import type { ReadResult, ReadTask } from "./ReadTask.ts"
import * as RecipientGroups from "./RecipientGroups.ts"
import * as Scans from "./Scans.ts"
import * as StoredMessage from "./StoredMessage.ts"
import * as UnreadMail from "./UnreadMail.ts"

/**
 * A message that crashed two processes is not parsed a third time. From the fifth attempt on only its envelope is
 * used.
 */
const mostParses = 2
const mostLooks = 4

/**
 * Bytes of messages that are loaded again at a time. They are no part of the memory for new messages, which would leave
 * no room for small ones otherwise.
 */
const mostLoadedBytes = 32 * 1_024 * 1_024

/** Whether a parser thread starts with the service. Otherwise the first message waits for it, some 0.3 s. */
export const StartsThread = Context.Reference("inlet/reading/Reader/StartsThread", { defaultValue: () => true })

/** The verdict of the mail scanner or its scan, undefined without a scanner. */
type Scan = Effect.Effect<Spam> | Spam | undefined

/** A claimed message, and its reading, which logs a failure. */
export interface LeftOver {
  readonly tenant: string
  readonly read: Effect.Effect<void>
}

/** Turns stored messages into events: one for each recipient, written together with its delivery. */
export class Reader extends Context.Service<
  Reader,
  {
    /**
     * Reserves memory for a message before it is stored, so that it is parsed from memory. Without room the message
     * is loaded from the store later. A reservation ends with `read` or `release`.
     */
    reserve(mail: Mail): boolean
    release(mail: Mail): void
    /**
     * Parses a message whose memory is reserved and whose row is committed and leased to this process, and writes its
     * events. Logs a failure, after which the lease expires and a reader claims the message again.
     */
    read(mail: Mail): Effect.Effect<void>
    /** Claims messages that a crash, a failure or full memory left in the table, but none of these tenants. */
    claimLeftOver(except: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<LeftOver>>
  }
>()("inlet/reading/Reader") {
  static readonly layer = Layer.effect(
    Reader,
    Effect.gen(function* () {
      const raw = yield* RawStore
      const threads = yield* ParserThreads
      if (yield* StartsThread) yield* threads.warmUp
      const clock = yield* Clock.Clock
      const claimUnread = yield* UnreadMail.make
      const scans = yield* Scans.make
      const inHand = new MailsInHand()
      /** Bytes that a message takes. A scan has a copy of it, because the thread takes its bytes. */
      const memoryOf = ({ bytes, recipients }: Mail) =>
        RecipientGroups.memoryOf(bytes, recipients.length) + (scans === undefined || scans.isPassing() ? 0 : bytes)
      /** By id, because a copy of a mail with fewer recipients is parsed in its place. */
      const reserved = new Map<InboundEmailId, number>()
      // Before the writer, so that it is finalized after it and releases messages without events for other readers.
      const attempts = yield* ReadAttempts.make
      yield* MailLeases.keep(inHand, attempts)
      const write = yield* EventWriter.make
      const loops = yield* LoopGuard.make

      // Built lazily, because few messages are loaded again.
      const missing = yield* MissingMessages.make
      const load = (mail: Mail) => Effect.suspend(() => loadFrom(raw, missing, mail))

      /** `spam` is undefined without a scanner. */
      const writeOne = (mail: Mail, result: ReadResult, spam: Spam | undefined, isLast: boolean) => {
        const one = write(NewEvents.of(mail, result, loops, spam, isLast))
        const written = Effect.catchIf(one, isUnreachable, () =>
          Effect.retry(Effect.delay(one, rewriteAfter), { while: isUnreachable, times: mostRewrites })
        )
        if (!result.isAnswer) return written
        return Effect.onError(written, () => Effect.sync(() => NewEvents.answersOf(mail, result).forEach(loops.forget)))
      }

      /** Writes the events of a message, or of a group of its recipients. */
      const readOnce = (mail: Mail, message: Uint8Array, scan: Scan, isLast: boolean) => {
        const parsed = threads.read(tenantOf(mail), taskOf(mail), message, load(mail))
        const both = Effect.isEffect(scan)
          ? Effect.zip(scan, parsed, { concurrent: true })
          : Effect.map(parsed, (result) => [scan, result] as const)
        return Effect.flatMap(both, ([spam, result]) =>
          Effect.map(writeOne(mail, result, spam, isLast), (isWritten) => ({ isWritten, result }))
        )
      }

      const inGroups = yield* PartitionedSemaphore.make<string>({ permits: RecipientGroups.mostAtATime })

      /** Parses a message for many recipients again for each group of them, so that few payloads are in memory. */
      const readGroups = Effect.fnUntraced(function* (mail: Mail, message: Uint8Array, scanned: Scan) {
        const scan = Effect.isEffect(scanned) ? yield* Effect.cached(scanned) : scanned
        let size = RecipientGroups.firstSize(mail.bytes)
        let bytes: Uint8Array | undefined = message
        for (let at = 0; at < mail.recipients.length; ) {
          const recipients = mail.recipients.slice(at, at + size)
          const group = { ...mail, recipients, readRecipients: mail.readRecipients + at }
          const isLast = at + size >= mail.recipients.length
          const own = bytes
          bytes = undefined
          const { isWritten, result } = yield* Effect.suspend(() =>
            own === undefined ? load(mail) : Effect.succeed(own)
          ).pipe(
            Effect.flatMap((own) => readOnce(group, own, scan, isLast)),
            inGroups.withPermit(tenantOf(mail))
          )
          if (!isWritten) return
          at += size
          size = RecipientGroups.sizeFor(Math.max(...result.payloads.map(({ byteLength }) => byteLength)))
        }
      })

      /** Ends the hold of a message after its reading. On a stop all messages without events are released. */
      const leaveAfter = (tenant: string, held: Pick<Mail, "bytes" | "id">) => (exit: Exit.Exit<unknown, unknown>) => {
        if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) return Effect.void
        inHand.leave(tenant, held)
        return Effect.void
      }

      const readBytes = (mail: Mail, message: Uint8Array) => {
        const scan = scans && beginScan(scans, tenantOf(mail), mail, message)
        const isWhole = mail.recipients.length <= RecipientGroups.firstSize(mail.bytes)
        return isWhole ? Effect.asVoid(readOnce(mail, message, scan, true)) : readGroups(mail, message, scan)
      }

      const readReserved = (mail: Mail, message: Uint8Array) =>
        Effect.suspend(() => {
          const tenant = tenantOf(mail)
          const inMemory = { id: mail.id, bytes: memoryOf(mail) }
          inHand.enter(tenant, inMemory, Elapsed.millisOf(clock))
          mail.message = undefined
          return Effect.onExit(readBytes(mail, message), leaveAfter(tenant, inMemory))
        })

      const { messageBytes } = yield* Settings.limits
      const loading = yield* PartitionedSemaphore.make<string>({ permits: mostLoadedBytes })

      /** A message whose lease is renewed while it waits to be loaded. `loading` counts its memory. */
      const claimedOf = ({ id }: Pick<Mail, "id">) => ({ id, bytes: 0 })

      /** Uninterruptible, so that a stop releases what was claimed. */
      const claim = Effect.fnUntraced(function* (except: ReadonlyArray<string>) {
        yield* attempts.giveBack
        const claimed = yield* claimUnread(except)
        for (const mail of claimed) inHand.enter(tenantOf(mail), claimedOf(mail), Elapsed.millisOf(clock))
        return claimed
      }, Effect.uninterruptible)

      const readClaimed = Effect.fnUntraced(
        function* (claimed: Omit<Mail, "bytes">) {
          const message = yield* load({ ...claimed, bytes: 0 })
          yield* readBytes({ ...claimed, bytes: message.byteLength }, message)
        },
        (reading, claimed) =>
          loading.withPermits(
            tenantOf(claimed),
            claimed.place === null
              ? Math.min(memoryOf({ ...claimed, bytes: messageBytes }), mostLoadedBytes / 2)
              : Math.min(memoryOf({ ...claimed, bytes: claimed.place.bytes }), mostLoadedBytes)
          )(reading),
        (reading, claimed) => Effect.onExit(reading, leaveAfter(tenantOf(claimed), claimedOf(claimed)))
      )

      const claimLeftOver: Reader["Service"]["claimLeftOver"] = Effect.fn("Reader.claimLeftOver")(function* (except) {
        return (yield* claim(except)).map((mail) => ({
          tenant: tenantOf(mail),
          read: logged(attempts, mail, readClaimed(mail))
        }))
      }, Effect.orDie)

      const release = (mail: Mail) => {
        inHand.release(tenantOf(mail), reserved.get(mail.id) ?? 0)
        reserved.delete(mail.id)
      }

      return Reader.of({
        reserve: (mail) => {
          const bytes = memoryOf(mail)
          const hasRoom = inHand.reserve(tenantOf(mail), bytes)
          if (hasRoom) reserved.set(mail.id, (reserved.get(mail.id) ?? 0) + bytes)
          return hasRoom
        },
        release,
        read: (mail) =>
          Effect.suspend(() => {
            release(mail)
            return mail.message === undefined ? Effect.void : logged(attempts, mail, readReserved(mail, mail.message))
          }),
        claimLeftOver
      })
    })
  ).pipe(Layer.provide(ParserThreads.layer))
}

/**
 * While the database is away, a message that is parsed waits for it, within its lease of 60 s. Otherwise its event would
 * wait for the end of the lease.
 */
const rewriteAfter = "2 seconds"
const mostRewrites = 15

/**
 * Loads the bytes of a message. If they are damaged, or were missing for a day, the envelope is still an event. A day,
 * because the folder may not be mounted, or be another machine's.
 */
const loadFrom = (raw: RawStore["Service"], missing: MissingMessages.MissingMessages, mail: Mail) =>
  StoredMessage.load(raw, mail).pipe(
    Effect.catchTag("NotFound", () => Effect.andThen(missing.notFound(mail), Effect.succeed(new Uint8Array()))),
    Effect.catchTag("Damaged", () => Effect.succeed(new Uint8Array()))
  )

/** Missing bytes and an outage are not the message's fault, so it is parsed in full afterwards. */
const logged = <E>(attempts: ReadAttempts.ReadAttempts, mail: Pick<Mail, "id">, reading: Effect.Effect<void, E>) =>
  Effect.catchCause(reading, (cause) =>
    Effect.andThen(
      MissingMessages.isCause(cause)
        ? Effect.void
        : Effect.annotateLogs(FailureLog.error(`${ReadFailure.inWords(cause)}. Inlet retries`, cause), {
            inbound_email_id: mail.id
          }),
      attempts.judge(mail, cause)
    )
  )

const taskOf = (mail: Mail): ReadTask => ({
  kind: "read",
  depth: mail.attempt > mostLooks ? "nothing" : mail.attempt > mostParses ? "headers" : "full",
  inboundEmailId: mail.id,
  rawRef: rawRef(mail.domainId, mail.id),
  domain: mail.domain,
  envelope: mail.envelope,
  recipients: mail.recipients,
  isRepeated: mail.readRecipients > 0,
  receivedAt: DateTime.formatIso(DateTime.makeUnsafe(mail.receivedAt)),
  sha256: mail.sha256,
  rules: mail.rules,
  verdicts: mail.verdicts
})

/** Begins the scan of a message, beside the checks of its sender. Copies the message if it is scanned. */
const beginScan = (scans: Scans.Scans, tenant: string, mail: Mail, message: Uint8Array) =>
  message.byteLength === 0
    ? // It was removed or damaged.
      unscanned
    : scans.begin(tenant, () => ({
        id: mail.id,
        envelope: mail.envelope,
        recipients: mail.recipients.map(({ address }) => address),
        message: message.slice(mail.traceBytes)
      }))
