import { Context, Effect, Layer, Schema } from "effect"
import type { Envelope, InboundEmailId } from "../../model/InboundEmail.ts"
import type { Spam } from "../../model/Spam.ts"

/** A message to scan. */
export interface Scannable {
  readonly id: InboundEmailId
  readonly envelope: Envelope
  /** The recipients of the domain. */
  readonly recipients: ReadonlyArray<string>
  /** The message as received, without the trace fields of this service. Unchanged until the scan ends. */
  readonly message: Uint8Array
}

/**
 * The scanner gave no usable answer. `refused`: it answered that it does not scan this message, so it is not out of
 * order.
 */
export class ScanFailed extends Schema.TaggedError<ScanFailed>()("ScanFailed", {
  kind: Schema.Literals(["timeout", "unreachable", "unclear", "refused"]),
  /** Without words of the mail or secrets. */
  message: Schema.String
}) {}

/** The answer of a scanner that has one. */
export type Scan = Spam & { readonly verdict: "clean" | "spam" | "virus" }

/** Says whether a message is spam or has a virus. */
export class MailScanner extends Context.Service<
  MailScanner,
  {
    /** False without a scanner: then `scan` is not called, and events have no `spam`. */
    readonly isActive: boolean
    /** Scans a message. May take as long as it likes: the caller has a time limit, and interrupts it. */
    scan(mail: Scannable): Effect.Effect<Scan, ScanFailed>
  }
>()("inlet/providers/scanner/MailScanner") {
  /** Scans nothing. */
  static readonly layerNone = Layer.succeed(MailScanner, {
    isActive: false,
    scan: () => Effect.fail(new ScanFailed({ kind: "refused", message: "there is no scanner" }))
  })
}
