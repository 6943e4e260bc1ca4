import type { Spam, SpamAction } from "../model/Spam.ts"
import type { HoldReason } from "../model/Trust.ts"

/** Maximum bytes that a scan adds to a payload: all symbols and the virus, each character escaped. */
export const mostBytes = 8 * 1024

/** A payload with its scan. The payload is a JSON object in UTF-8, which ends in a brace. */
export const payload = (rendered: Uint8Array, spam: Spam): Uint8Array => {
  const end = rendered.byteLength - 1
  const field = Buffer.from(`,"spam":${JSON.stringify(spam)}}`)
  const whole = new Uint8Array(end + field.byteLength)
  whole.set(rendered.subarray(0, end))
  whole.set(field, end)
  return whole
}

/** Why a delivery is held. A virus counts before the sender rules, so that nobody releases it for its sender alone. */
export const hold = (byRule: HoldReason | null, { verdict }: Spam, action: SpamAction): HoldReason | null => {
  if (action === "tag") return byRule
  if (verdict === "virus") return "virus"
  return byRule ?? (verdict === "spam" ? "spam" : null)
}
