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
}

/** Copies a message once per recipient domain, into its own memory. */
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
      const stored = new Uint8Array(trace.byteLength + message.byteLength)
      stored.set(trace)
      message.copyInto(stored, trace.byteLength)
      const received = stored.subarray(trace.byteLength)
      const mail: Mail = {
        id,
        domainId,
        domain: first.domain,
        workspaceId: first.workspaceId,
        envelope,
        recipients: own.map(({ address, route }) => ({ eventId: eventId(id), address, route })),
        receivedAt,
        sha256: hash("sha256", received, "buffer"),
        traceBytes: trace.byteLength,
        rules: first.rules,
        spamAction: first.spamAction,
        verdicts: simulated?.authentication ?? null,
        message: stored,
        place: null,
        storedMs: null,
        bytes: stored.byteLength,
        attempt: 1
      }
      const tls = transmission === "HTTP" ? null : transmission.tls
      return [{ id, domainId, recipients: own, mail, received, tls }]
    })
  }

/** No message takes longer to store, unless the clock was set meanwhile. */
const longestMillis = 600_000

/** The milliseconds until the commit at this time, or null if the clock was set since the message came. */
export const storedMs = ({ receivedAt }: Pick<Mail, "receivedAt">, committedAt: number): number | null => {
  const took = committedAt - receivedAt
  return took >= 0 && took <= longestMillis ? took : null
}
