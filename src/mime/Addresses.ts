import { domainToASCII } from "node:url"
import addressparser from "nodemailer/lib/addressparser"
import type { Mailbox } from "../model/InboundEvent.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"

/** One mailbox as most fields have it: its name in letters or simple quotes. The parser takes ten times as long. */
const simple =
  /^(?:(?:([A-Za-z0-9]+(?: [A-Za-z0-9]+)*)|"([A-Za-z0-9]+(?:(?: |[.,&'-] ?)[A-Za-z0-9]+)*\.?)") )?<([\w+-]+(?:\.[\w+-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)>$/

const parsed = (field: HeaderField, charset: string | undefined): ReadonlyArray<Mailbox> => {
  const value = HeaderText.rawValue(field, charset)
  const [, words, quoted, address] = simple.exec(value) ?? []
  return address === undefined ? addressparser(value, { flatten: true }) : [{ name: words ?? quoted ?? "", address }]
}

/**
 * Parses the mailboxes of an address field (RFC 5322, section 3.4), with groups as their members. Encoded words are
 * names and never form an address (RFC 2047, section 5). Recipients may have no domain, like local users, and stay
 * unchanged.
 */
export const recipients = (field: HeaderField, most: number, charset?: string): ReadonlyArray<Mailbox> =>
  parsed(field, charset)
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
 * The mailbox of an author with an unambiguous domain, or null. DMARC has no verdict on authors of several domains
 * (RFC 9989, section 5.3.1).
 */
export const author = (field: HeaderField, charset?: string): Mailbox | null => {
  const mailboxes = parsed(field, charset).flatMap(({ address, name }) =>
    address === "" ? [] : [{ name, address: HeaderText.oneLine(address) }]
  )
  const [first] = mailboxes
  if (first === undefined || !mailboxes.every(isUsable)) return null
  // Other names are not decoded, because that would be the largest cost.
  const isAuthor = mailboxes.length === 1 || areAtOneDomain(first, mailboxes)
  return isAuthor ? { ...first, name: HeaderText.decoded(first.name) } : null
}

/** Every address of the authors that can be read, also beside others or in no valid form. */
export const authors = (field: HeaderField, charset?: string): ReadonlyArray<string> =>
  parsed(field, charset).flatMap(({ address }) => (address === "" ? [] : [HeaderText.oneLine(address)]))

/** Whether this contains one mailbox at one domain. */
const isUsable = ({ address }: Mailbox): boolean => /^(?:[^\s@"]+|"[^"]*")@[^\s@]+$/.test(address)

const areAtOneDomain = (first: Mailbox, mailboxes: ReadonlyArray<Mailbox>): boolean => {
  const domain = domainOf(first)
  return mailboxes.every((mailbox) => mailbox === first || domainOf(mailbox) === domain)
}

const domainOf = ({ address }: Mailbox): string => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase()
  return domainToASCII(domain) || domain
}
