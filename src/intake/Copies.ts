import { hash } from "node:crypto"
import { DateTime } from "effect"
import type { DomainId } from "../model/Domain.ts"
import { type Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import { type Authentication, EventId } from "../model/InboundEvent.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import type { Mail } from "../reading/Mail.ts"
import type { Recipient } from "./Recipient.ts"
import * as TraceFields from "./TraceFields.ts"

/** A message at the end of its DATA. */
export interface Arrival {
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<Recipient>
  readonly transmission: TraceFields.Transmission | "HTTP"
  /** For a simulated message: its id, and the verdicts that replace the sender check. */
  readonly simulated?: { readonly id: InboundEmailId; readonly authentication: Authentication }
  /** For a message from a relay: its id, and the name by which the relay knows it. */
  readonly relayed?: { readonly id: InboundEmailId; readonly idempotencyKey: string | undefined }
  /** The chunks as received. `Intake.receive` copies them before its first asynchronous step. */
  readonly message: {
    readonly byteLength: number
    copyInto(target: Uint8Array, offset: number): void
    /** Keeps its memory reserved until the returned function is called, even after the answer. */
    readonly keep?: () => () => void
  }
}

/** The message as stored for one domain: trace fields followed by the received bytes. */
export interface Copy {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly recipients: ReadonlyArray<Recipient>
  readonly mail: Mail
  /** The TLS version of the session, or null. */
  readonly tls: string | null
  readonly received: Uint8Array
  /** Its bytes. All copies share those received, because 100 of them would take 100 times the memory. */
  readonly pieces: ReadonlyArray<Uint8Array>
}

/** Makes the copy of a message for each recipient domain, and copies its bytes once. Only the first has memory of its own. */
export const make =
  (options: {
    readonly mxHost: string
    /** Makes a UUIDv7 for a millisecond. */
    readonly newId: (millis: number) => string
    readonly now: () => number
  }) =>
  ({ envelope, message, recipients, relayed, simulated, transmission }: Arrival): ReadonlyArray<Copy> => {
    const { mxHost, newId, now } = options
    const receivedAt = now()
    let shared: { readonly received: Uint8Array; readonly sha256: Uint8Array } | undefined
    const eventId = (id: InboundEmailId) => EventId.make(newId(Uuid7.timeOf(id)))
    // Different spellings of a domain name the same mailbox.
    const mailboxes = new Map(recipients.map((recipient) => [recipient.address, recipient])).values()
    return [...Map.groupBy(mailboxes, ({ domainId }) => domainId)].flatMap(([domainId, own]) => {
      const [first] = own
      if (first === undefined) return []
      const id = simulated?.id ?? relayed?.id ?? InboundEmailId.make(newId(receivedAt))
      const trace = Buffer.from(
        TraceFields.render({
          id,
          envelope,
          recipients: own.map(({ address }) => address),
          mxHost,
          receivedAt: DateTime.makeUnsafe(receivedAt),
          transmission
        })
      )
      let stored: Uint8Array | undefined
      if (shared === undefined) {
        // Every byte is written, and the whole buffer goes to a thread. No `Buffer`, whose `slice` does not copy.
        stored = new Uint8Array(Buffer.allocUnsafeSlow(trace.byteLength + message.byteLength).buffer)
        stored.set(trace)
        message.copyInto(stored, trace.byteLength)
        const received = stored.subarray(trace.byteLength)
        shared = { received, sha256: hash("sha256", received, "buffer") }
      }
      const { received, sha256 } = shared
      const mail: Mail = {
        id,
        domainId,
        domain: first.domain,
        workspaceId: first.workspaceId,
        envelope,
        recipients: own.map(({ address, route }) => ({ eventId: eventId(id), address, route })),
        readRecipients: 0,
        receivedAt,
        sha256,
        traceBytes: trace.byteLength,
        rules: first.rules,
        spamAction: first.spamAction,
        verdicts: simulated?.authentication ?? null,
        message: stored,
        place: null,
        storedMs: null,
        bytes: trace.byteLength + received.byteLength,
        attempt: 1
      }
      const tls = transmission === "HTTP" ? null : transmission.tls
      const pieces = stored === undefined ? [trace, received] : [stored]
      return [{ id, domainId, recipients: own, mail, received, pieces, tls }]
    })
  }

/** Gives mails memory of their own, before a parser thread takes that of any. */
export const separate = (copies: ReadonlyArray<Copy>, mails: ReadonlyArray<Mail>): void => {
  for (const mail of mails) {
    if (mail.message !== undefined) continue
    const own = new Uint8Array(mail.bytes)
    let at = 0
    for (const piece of copies.find(({ id }) => id === mail.id)?.pieces ?? []) {
      own.set(piece, at)
      at += piece.byteLength
    }
    mail.message = own
  }
}

/** No message takes longer to store, unless the clock was set meanwhile. */
const longestMillis = 600_000

/** The milliseconds until the commit at this time, or null if the clock was set since the message came. */
export const storedMs = ({ receivedAt }: Pick<Mail, "receivedAt">, committedAt: number): number | null => {
  const took = committedAt - receivedAt
  return took >= 0 && took <= longestMillis ? took : null
}
