import { Effect, Schema } from "effect"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { DomainId } from "../model/Domain.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type * as Copies from "./Copies.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import * as RetryKey from "./RetryKey.ts"
import * as TraceFields from "./TraceFields.ts"

/** The message has so many `Received` fields that it must be in a loop. */
export class MailLoop extends Schema.TaggedError<MailLoop>()("MailLoop", {}) {}

/** `Received` fields that mean a loop (RFC 5321, section 6.3, wants a large bound). */
const loopReceivedFields = 50

/** Our own `Received` fields that mean a loop. A customer may forward a message back to us once. */
const ownReceivedFields = 2

/** Maximum bytes of the header to search while the sender waits. */
const longestHeader = 256 * 1024

/** A message that passed the loop check, with its retry keys. */
export interface Incoming {
  readonly arrival: Copies.Arrival
  /** The first of `copies`. Most messages have only one. */
  readonly first: Copies.Copy
  readonly copies: ReadonlyArray<Copies.Copy>
  /** Log-safe text. */
  readonly envelope: Envelope
  /**
   * Makes the retry key of a recipient. Null without a Message-ID, because such a message may be repeated on purpose.
   */
  readonly keyOf: ((domainId: DomainId, address: string) => Buffer) | null
  readonly keys: ReadonlyArray<Buffer>
}

/** Checks for mail loops and makes the retry keys. Reads at most 256 KiB of the header. */
export const make =
  ({ mxHost }: { readonly mxHost: string }) =>
  (arrival: Copies.Arrival, copies: ReadonlyArray<Copies.Copy>): Effect.Effect<Incoming, MailLoop> => {
    const [first] = copies
    if (first === undefined) return Effect.die("A message came for nobody")
    const fields = HeaderBlock.fields(first.received.subarray(0, longestHeader))
    const hops = fields.filter(({ name }) => isNamed(name, "received"))
    const own = hops.filter(({ value }) => TraceFields.isBy(mxHost, value))
    if (hops.length >= loopReceivedFields || own.length >= ownReceivedFields) return Effect.fail(new MailLoop())

    const { envelope, relayed } = arrival
    const hasMessageId = fields.some(({ name }) => isNamed(name, "message-id"))
    const named =
      relayed?.idempotencyKey !== undefined
        ? RetryKey.nameOf(relayed.idempotencyKey)
        : hasMessageId
          ? relayed === undefined
            ? first.mail.sha256
            : RetryKey.contentOf(first.received, fields)
          : undefined
    const keyOf =
      named === undefined ? null : (domainId: DomainId, address: string) => RetryKey.of(domainId, address, named)
    return Effect.succeed({
      arrival,
      first,
      copies,
      envelope: {
        ...envelope,
        from: InboundTransaction.printable(envelope.from),
        helo: InboundTransaction.printable(envelope.helo)
      },
      keyOf,
      keys:
        keyOf === null
          ? []
          : copies.flatMap(({ domainId, recipients }) => recipients.map(({ address }) => keyOf(domainId, address)))
    })
  }

const isNamed = (name: string, expected: string) => name.length === expected.length && name.toLowerCase() === expected
