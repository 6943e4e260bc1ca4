import { Schema } from "effect"

const mostEntries = 20
const longestName = 100
const longestValue = 1_000

// Descriptions stand before the checks: JSON schema drops a filter with what is said of it.

const named = (
  description: string,
  expected: string,
  isName: (name: string) => boolean,
  isValue: (value: string) => boolean
) =>
  Schema.Record(Schema.String, Schema.String)
    .annotate({ description })
    .check(
      Schema.makeFilter((given) => {
        const entries = Object.entries(given)
        const areFine = entries.every(([name, value]) => isName(name) && value.length <= longestValue && isValue(value))
        return areFine && entries.length <= mostEntries ? undefined : `Expected at most ${mostEntries} ${expected}`
      })
    )

/** Headers that belong to the connection, to the content, or to Inlet. */
const taken =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|user-agent|x-service-.*|webhook-.*)$/i

const isHeader = (name: string) =>
  name.length <= longestName && /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !taken.test(name)

const isField = (name: string) => name !== "" && name.length <= longestName && !/\p{Cc}/u.test(name)

const contentType = Schema.String.annotate({ description: "of the message. `message/rfc822` by default" }).check(
  Schema.makeFilter((text) =>
    text.length <= longestName && /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+="?[\w.+-]+"?)*$/.test(text)
      ? undefined
      : "Expected a content type such as message/rfc2822"
  )
)

/** What a receiver of raw messages demands besides its URL. */
export const RawOptions = Schema.Struct({
  contentType: Schema.optionalKey(contentType),
  field: Schema.optionalKey(
    Schema.String.annotate({ description: "posts a form with the message in this field, as valid UTF-8" }).check(
      Schema.makeFilter((name) =>
        isField(name) ? undefined : `Expected a name of 1 to ${longestName} characters without control characters`
      )
    )
  ),
  base64: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "beside `field`: the exact bytes of the message as base64" })
  ),
  fields: Schema.optionalKey(
    named(
      "beside `field`: further fields of the form, such as a key",
      `fields with names of up to ${longestName} and values of up to ${longestValue} characters`,
      isField,
      () => true
    )
  ),
  headers: Schema.optionalKey(
    named(
      "headers of the request, such as an API key",
      `headers with ASCII values of up to ${longestValue} characters, other than Host, User-Agent, Content-*, X-Service-*, webhook-* and those of the connection`,
      isHeader,
      (value) => /^[\x20-\x7e]*$/.test(value)
    )
  )
})
  .annotate({
    description:
      "for the format `raw`: how the receiver wants the message, and the headers and fields that it demands. They are stored encrypted and shown nowhere. A `webhookUrl` without it forgets them"
  })
  .check(
    Schema.makeFilter(({ base64, contentType, field, fields }) =>
      field === undefined
        ? base64 !== undefined || fields !== undefined
          ? { path: [base64 === undefined ? "fields" : "base64"], issue: "Expected it only beside a field" }
          : undefined
        : contentType !== undefined
          ? { path: ["contentType"], issue: "Expected none beside a field, because a form has its own" }
          : fields?.[field] !== undefined
            ? { path: ["fields", field], issue: "Expected another name than that of the message" }
            : undefined
    )
  )
  .annotate({ identifier: "RawOptions" })
export type RawOptions = typeof RawOptions.Type

/** The values that may be secrets, a longer one before its parts. */
export const secrets = ({ fields = {}, headers = {} }: RawOptions): ReadonlyArray<string> =>
  [...Object.values(fields), ...Object.values(headers)]
    .filter((value) => value !== "")
    .sort((one, other) => other.length - one.length)
