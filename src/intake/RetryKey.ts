import { createHash } from "node:crypto"
import type * as HeaderBlock from "../mime/HeaderBlock.ts"
import type { DomainId } from "../model/Domain.ts"

/**
 * Identifies a repeated message for a recipient by a hash: of the received bytes, of the content of a relayed message,
 * or of the relay's name for it.
 */
export const of = (domainId: DomainId, recipient: string, hash: Uint8Array) =>
  createHash("sha256").update(`${domainId}\n${recipient}\n`).update(hash).digest()

/** The hash of an `Idempotency-Key`. */
export const nameOf = (idempotencyKey: string): Uint8Array =>
  createHash("sha256").update(`idempotency-key\n${idempotencyKey}`).digest()

/** Fields that a server on the way adds. */
const traceField =
  /^(?:return-path|delivered-to|received|received-spf|authentication-results|arc-seal|arc-message-signature|arc-authentication-results|x-cf-[\w-]+)$/i

/**
 * The hash of a message without the fields that a relay adds. A relay writes new ones each time the sender retries,
 * with another time and id.
 */
export const contentOf = (message: Uint8Array, fields: ReadonlyArray<HeaderBlock.HeaderField>): Uint8Array => {
  const hash = createHash("sha256").update("content\n")
  let from = 0
  for (const { end, name, start } of fields) {
    if (!traceField.test(name)) continue
    hash.update(message.subarray(from, start))
    from = end
  }
  return hash.update(message.subarray(from)).digest()
}
