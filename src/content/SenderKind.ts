/** The kind of sender: a person, a list or newsletter, an automatic reply or notice, or a bounce. */
export type SenderKind = "person" | "list" | "auto" | "bounce"

interface Header {
  readonly name: string
  readonly value: string
}

/** The header fields that decide. */
const telling = new Set([
  "auto-submitted",
  "content-type",
  "list-id",
  "list-unsubscribe",
  "precedence",
  "x-auto-response-suppress"
])

/** The first field of each name that decides, without comments. */
const fieldsOf = (headers: ReadonlyArray<Header>): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  for (const { name, value } of headers) {
    const key = name.toLowerCase()
    if (telling.has(key) && !fields.has(key))
      fields.set(
        key,
        value
          .replace(/\([^()]*\)/g, " ")
          .trim()
          .toLowerCase()
      )
  }
  return fields
}

const word = (fields: ReadonlyMap<string, string>, name: string) => /^[\w-]+/.exec(fields.get(name) ?? "")?.[0]

const namesList = (fields: ReadonlyMap<string, string>): boolean => {
  const precedence = word(fields, "precedence")
  return precedence === "bulk" || precedence === "list" || fields.has("list-id") || fields.has("list-unsubscribe")
}

/** Whether the header names a list or newsletter, also for bounces and automatic mail. */
export const isList = (headers: ReadonlyArray<Header>): boolean => namesList(fieldsOf(headers))

/** Decides by envelope and header (RFC 3464, RFC 3834, RFC 2369, RFC 2919). The first match counts. */
export const of = (mail: { readonly envelopeFrom: string; readonly headers: ReadonlyArray<Header> }): SenderKind => {
  const fields = fieldsOf(mail.headers)
  if (mail.envelopeFrom === "" || /^multipart\/report\b/.test(fields.get("content-type") ?? "")) return "bounce"
  const submitted = word(fields, "auto-submitted")
  const suppressed = word(fields, "x-auto-response-suppress")
  if (submitted !== undefined && submitted !== "no") return "auto"
  if ((suppressed !== undefined && suppressed !== "none") || word(fields, "precedence") === "auto_reply") return "auto"
  return namesList(fields) ? "list" : "person"
}
