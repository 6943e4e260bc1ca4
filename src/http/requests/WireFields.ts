import { Redacted, Schema } from "effect"
import { RawOptions } from "../../delivery/formats/RawOptions.ts"
import type { Asked } from "../../webhooks/WebhookWire.ts"
import { Secret } from "./Secret.ts"

// The fields of a request about the format of a webhook, beside its URL.

const fewestCharacters = 16
const mostCharacters = 200

// The description stands before the check: JSON schema drops a filter with what is said of it.
const SigningKey = Schema.String.annotate({
  description:
    "for `mailgun` and `mandrill`: the key of the receiver. Absent at the first time: Inlet makes one, which the answer shows once"
}).check(
  Schema.makeFilter((text: string) =>
    text.length >= fewestCharacters && text.length <= mostCharacters && /^[\x20-\x7e]+$/.test(text)
      ? undefined
      : `Expected ${fewestCharacters} to ${mostCharacters} printable ASCII characters`
  )
)

/** Fields beside `webhookUrl`. */
export const fields = {
  format: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "`inlet` (the signed event), `raw`, `mailgun`, `postmark`, `sendgrid`, `sendgrid-raw`, `mandrill`, or a format of the operator. Absent: as it is"
    })
  ),
  raw: Schema.optionalKey(RawOptions),
  signingKey: Schema.optionalKey(SigningKey)
}

/** The description of a URL that may have credentials. */
export const urlDescription =
  "an absolute http or https URL. In other formats than `inlet` it may have a user name and a password (`https://user:password@host/path`), which are sent as `Authorization` and shown nowhere"

interface Fields {
  readonly format?: string
  readonly raw?: RawOptions
  readonly signingKey?: string
  readonly webhookUrl?: string | null
}

/** The format is set together with the URL, so that credentials never go to another host. */
export const areBesideUrl = Schema.makeFilter(({ format, raw, signingKey, webhookUrl }: Fields) => {
  const [given] = Object.entries({ format, signingKey, raw }).flatMap(([name, value]) =>
    value === undefined ? [] : [name]
  )
  return typeof webhookUrl !== "string" && given !== undefined
    ? { path: [given], issue: "Expected it only beside a webhookUrl" }
    : undefined
})

/** The part of an answer with a new key. */
export const madeKey = Schema.optionalKey(Secret("the signing key of the format, where it was just made"))

/** What the client asks for. */
export const asked = ({ format, raw, signingKey }: Fields, credentials: Omit<Asked, "format">): Asked => ({
  ...credentials,
  ...(format === undefined ? {} : { format }),
  ...(raw === undefined ? {} : { raw: Redacted.make(raw) }),
  ...(signingKey === undefined ? {} : { signingKey: Redacted.make(signingKey) })
})
