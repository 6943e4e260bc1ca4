import type { Mailbox } from "../../model/InboundEvent.ts"

/**
 * Writes mailboxes as an address field with quoted names, such as `"Zoë, Ünal" <zoe@sender.example>`. A decoded name
 * with a comma would otherwise be two addresses. Leaves out mailboxes without an address.
 */
export const of = (mailboxes: ReadonlyArray<Mailbox>): string =>
  mailboxes.flatMap((mailbox) => one(mailbox) ?? []).join(", ")

const one = ({ address, name }: Mailbox): string | undefined => {
  const bare = unambiguous(address)
  if (bare === "") return undefined
  return name === "" ? bare : `${quoted(name)} <${bare}>`
}

/** An address that no parser reads as two: a local part with special characters is quoted (RFC 5322, section 3.4.1). */
const unambiguous = (address: string): string => {
  const at = address.lastIndexOf("@")
  const local = at === -1 ? address : address.slice(0, at)
  const domain = at === -1 ? "" : address.slice(at).replace(/[\s"(),;<>\\]/g, "")
  if (local === "" || /^[^\s"(),:;<>@[\\\]]+$|^"(?:[^"\\]|\\[\s\S])*"$/.test(local)) return local + domain
  return quoted(local) + domain
}

/** A quoted string (RFC 5322, section 3.2.4). */
export const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`
