import { Effect, Schema } from "effect"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { DomainId } from "../model/Domain.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type * as Copies from "./Copies.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import * as RetryKey from "./RetryKey.ts"
import * as TraceFields from "./TraceFields.ts"

/** The message has more `Received` fields than a route without a loop leaves. */
export class MailLoop extends Schema.TaggedError<MailLoop>()("MailLoop", {}) {}

/** `Received` fields that mean a loop (RFC 5321, section 6.3, wants a large bound). */
const loopReceivedFields = 50

/** Our own `Received` fields that mean a loop. A customer may forward a message back to us once. */
const ownReceivedFields = 2

/** Bytes of the header that are searched for fields while the sender waits. */
const longestHeader = 256 * 1024

/** A message that passed the check of its hops, with the keys that recognise a retry of it. */
export interface Incoming {
  readonly arrival: Copies.Arrival
  /** The first of `copies`. A usual message has no other. */
  readonly first: Copies.Copy
  readonly copies: ReadonlyArray<Copies.Copy>
  /** Printable. */
  readonly envelope: Envelope
  /** Makes the key of one recipient. Null for a message without a Message-ID, which may be sent twice on purpose. */
  readonly keyOf: ((domainId: DomainId, address: string) => Buffer) | null
  readonly keys: ReadonlyArray<Buffer>
}

/** Checks how many servers a message has been through, and makes its keys. Reads at most 256 KiB of the header. */
export const make =
  ({ mxHost }: { readonly mxHost: string }) =>
  (arrival: Copies.Arrival, copies: ReadonlyArray<Copies.Copy>): Effect.Effect<Incoming, MailLoop> => {
    const [first] = copies
    if (first === undefined) return Effect.die("A message came for nobody")
    const fields = HeaderBlock.fields(first.received.subarray(0, longestHeader))
    const hops = fields.filter(({ name }) => isNamed(name, "received"))
    const own = hops.filter(({ value }) => TraceFields.isBy(mxHost, value))
    if (hops.length >= loopReceivedFields || own.length >= ownReceivedFields) return Effect.fail(new MailLoop())

    const { sha256 } = first.mail
    const keyOf = fields.some(({ name }) => isNamed(name, "message-id"))
      ? (domainId: DomainId, address: string) => RetryKey.of(domainId, address, sha256)
      : null
    const { envelope } = arrival
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
