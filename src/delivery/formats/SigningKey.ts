import { Redacted } from "effect"
import type { Stamp } from "./WebhookFormat.ts"

/** The signing key of the webhook. Throws without one, so that the attempt fails. */
export const of = ({ credentials }: Stamp): string => {
  if (credentials.signingKey === undefined)
    throw new Error("this webhook has no signing key; set its URL and format again")
  return Redacted.value(credentials.signingKey)
}
