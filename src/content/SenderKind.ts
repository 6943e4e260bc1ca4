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

/** Decides by envelope and header (RFC 3464, RFC 3834, RFC 2369, RFC 2919). The first match counts. */
export const of = (mail: { readonly envelopeFrom: string; readonly headers: ReadonlyArray<Header> }): SenderKind => {
  const fields = new Map<string, string>()
  for (const { name, value } of mail.headers) {
    const key = name.toLowerCase()
    // The first of each name counts.
    if (telling.has(key) && !fields.has(key))
      fields.set(
        key,
        value
          .replace(/\([^()]*\)/g, " ")
          .trim()
          .toLowerCase()
      )
  }
  const word = (name: string) => /^[\w-]+/.exec(fields.get(name) ?? "")?.[0]
  const precedence = word("precedence")
  if (mail.envelopeFrom === "" || /^multipart\/report\b/.test(fields.get("content-type") ?? "")) return "bounce"
  const submitted = word("auto-submitted")
  const suppressed = word("x-auto-response-suppress")
  if (submitted !== undefined && submitted !== "no") return "auto"
  if ((suppressed !== undefined && suppressed !== "none") || precedence === "auto_reply") return "auto"
  const isList =
    precedence === "bulk" || precedence === "list" || fields.has("list-id") || fields.has("list-unsubscribe")
  return isList ? "list" : "person"
}
