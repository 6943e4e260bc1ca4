import { domainToASCII } from "node:url"
import addressparser from "nodemailer/lib/addressparser"
import type { Mailbox } from "../model/InboundEvent.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"

/**
 * The mailboxes of an address field (RFC 5322, section 3.4), groups as their
 * members. Encoded words are names, and never make an address (RFC 2047, section 5).
 * Recipients may have no domain, as programs name those of their own machine: they are what they say.
 */
export const recipients = (field: HeaderField, most: number, charset?: string): ReadonlyArray<Mailbox> =>
  addressparser(HeaderText.rawValue(field, charset), { flatten: true })
    .slice(0, most)
    .flatMap(({ address, name }) => {
      if (address !== "") return [{ name: HeaderText.decoded(name), address: HeaderText.oneLine(address) }]
      if (name === "") return []
      return [
        /\s|=\?/.test(name)
          ? { name: HeaderText.decoded(name), address: "" }
          : { name: "", address: HeaderText.oneLine(name) }
      ]
    })

/**
 * The mailbox of an author whose domain is beyond doubt, or null: DMARC has no
 * verdict on authors of several domains (RFC 9989, section 5.3.1).
 */
export const author = (field: HeaderField, charset?: string): Mailbox | null => {
  const mailboxes = addressparser(HeaderText.rawValue(field, charset), { flatten: true }).flatMap(
    ({ address, name }) => (address === "" ? [] : [{ name, address: HeaderText.oneLine(address) }])
  )
  const [first] = mailboxes
  if (first === undefined || !mailboxes.every(isUsable)) return null
  const domain = domainOf(first)
  // The names of others are not decoded: that costs more than all the rest.
  const isAuthor = mailboxes.every((mailbox) => mailbox === first || domainOf(mailbox) === domain)
  return isAuthor ? { ...first, name: HeaderText.decoded(first.name) } : null
}

/** Whether this names one mailbox at one domain. */
const isUsable = ({ address }: Mailbox): boolean => /^(?:[^\s@"]+|"[^"]*")@[^\s@]+$/.test(address)

const domainOf = ({ address }: Mailbox): string => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase()
  return domainToASCII(domain) || domain
}
