import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { Redacted } from "effect"
import type { EventId } from "../model/InboundEvent.ts"
import { version } from "../Version.ts"

/** The secrets of a workspace that sign now: the previous one for a day after a rotation. */
export interface SigningSecrets {
  readonly current: Redacted.Redacted
  readonly previous: Redacted.Redacted | undefined
}

interface Keys {
  readonly service: KeyObject
  readonly standard: KeyObject
}

// A secret signs many messages; its keys last as long as it does.
const known = new WeakMap<Redacted.Redacted, Keys>()

const keysOf = (secret: Redacted.Redacted): Keys => {
  const before = known.get(secret)
  if (before !== undefined) return before
  const text = Redacted.value(secret)
  const keys = {
    // The whole secret as text is the key, `whsec_` included.
    service: createSecretKey(Buffer.from(text)),
    // The bytes behind `whsec_` are the key.
    standard: createSecretKey(Buffer.from(text.slice("whsec_".length), "base64"))
  }
  known.set(secret, keys)
  return keys
}

const service = (secret: Redacted.Redacted, seconds: number, body: Uint8Array) =>
  `t=${seconds},v1=${createHmac("sha256", keysOf(secret).service).update(`${seconds}.`).update(body).digest("hex")}`

const standard = (secret: Redacted.Redacted, eventId: EventId, seconds: number, body: Uint8Array) =>
  `v1,${createHmac("sha256", keysOf(secret).standard).update(`${eventId}.${seconds}.`).update(body).digest("base64")}`

interface Signable {
  readonly eventId: EventId
  readonly body: Uint8Array
  readonly secrets: SigningSecrets
  readonly seconds: number
}

/** All headers of a request that is made with this second. */
export const headersOf = (request: Signable): Record<string, string> => ({
  "Content-Type": "application/json",
  "User-Agent": `Inlet/${version}`,
  ...sign(request)
})

/**
 * The headers that let a receiver trust a request (spec, section 6; Standard Webhooks): for
 * exactly these body bytes, stamped with this second.
 */
export const sign = ({ body, eventId, seconds, secrets: { current, previous } }: Signable): Record<string, string> => {
  const own = {
    "X-Service-Event-Id": eventId,
    "X-Service-Timestamp": `${seconds}`,
    "X-Service-Signature": service(current, seconds, body),
    "webhook-id": eventId,
    "webhook-timestamp": `${seconds}`,
    "webhook-signature": standard(current, eventId, seconds, body)
  }
  if (previous === undefined) return own
  return {
    ...own,
    "X-Service-Signature-Previous": service(previous, seconds, body),
    "webhook-signature": `${own["webhook-signature"]} ${standard(previous, eventId, seconds, body)}`
  }
}
