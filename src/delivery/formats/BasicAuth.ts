import { Redacted } from "effect"
import type { Credentials } from "./WebhookFormat.ts"

/** The header of HTTP Basic authentication (RFC 7617), if a webhook has a user name and a password. */
export const header = ({ password, user }: Credentials): Readonly<Record<string, string>> =>
  user === undefined || password === undefined
    ? {}
    : { Authorization: `Basic ${Buffer.from(`${user}:${Redacted.value(password)}`).toString("base64")}` }

/** Headers as shown to the owner of a webhook: without the password. */
export const hidden = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  headers.Authorization === undefined ? headers : { ...headers, Authorization: "Basic …" }
