import type { HeaderValues } from "./HeaderValues.ts"

/** The kind of sender: a person, a list or newsletter, an automatic reply or notice, or a bounce. */
export type SenderKind = "person" | "list" | "auto" | "bounce"

/** A value in lower case without comments. */
const bare = (values: HeaderValues, name: string): string | undefined =>
  values
    .get(name)
    ?.replace(/\([^()]*\)/g, " ")
    .trim()
    .toLowerCase()

const word = (values: HeaderValues, name: string) => /^[\w-]+/.exec(bare(values, name) ?? "")?.[0]

/** Whether the header names a list or newsletter, also for bounces and automatic mail. */
export const isList = (values: HeaderValues): boolean => {
  const precedence = word(values, "precedence")
  return precedence === "bulk" || precedence === "list" || values.has("list-id") || values.has("list-unsubscribe")
}

/** Decides by envelope and header (RFC 3464, RFC 3834, RFC 2369, RFC 2919). The first match counts. */
export const of = (envelopeFrom: string, values: HeaderValues): SenderKind => {
  if (envelopeFrom === "" || /^multipart\/report\b/.test(bare(values, "content-type") ?? "")) return "bounce"
  const submitted = word(values, "auto-submitted")
  const suppressed = word(values, "x-auto-response-suppress")
  if (submitted !== undefined && submitted !== "no") return "auto"
  if ((suppressed !== undefined && suppressed !== "none") || word(values, "precedence") === "auto_reply") return "auto"
  return isList(values) ? "list" : "person"
}
