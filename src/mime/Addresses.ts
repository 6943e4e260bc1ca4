import { domainToASCII } from "node:url"
import addressparser from "nodemailer/lib/addressparser"
import type { Mailbox } from "../model/InboundEvent.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"

/** One mailbox as most fields have it: its name in letters or simple quotes. The parser takes ten times as long. */
const simple =
  /^(?:(?:([A-Za-z0-9]+(?: [A-Za-z0-9]+)*)|"([A-Za-z0-9]+(?:(?: |[.,&'-] ?)[A-Za-z0-9]+)*\.?)") )?<([\w+-]+(?:\.[\w+-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)>$/

/** Characters of a field that are parsed: 1,000 mailboxes of 128. The parser takes 0.7 µs for each. */
const mostChars = 128 * 1_024

const inText = (value: string): ReadonlyArray<Mailbox> => {
  const [, words, quoted, address] = simple.exec(value) ?? []
  return address === undefined ? addressparser(value, { flatten: true }) : [{ name: words ?? quoted ?? "", address }]
}

const parsed = (field: HeaderField, charset: string | undefined): ReadonlyArray<Mailbox> =>
  inText(HeaderText.rawValue(field, charset))

/** The mailboxes at the start of a text. One that is too long ends before the last comma that fits. */
const start = (value: string, most: number) =>
  value.length <= most
    ? { mailboxes: inText(value), isWhole: true }
    : { mailboxes: inText(value.slice(0, Math.max(0, value.lastIndexOf(",", most)))), isWhole: false }

/** A mailbox with its name decoded. A local name without a domain is its address. */
const legible = ({ address, name }: Mailbox): ReadonlyArray<Mailbox> => {
  if (address !== "") return [{ name: HeaderText.decoded(name), address: HeaderText.oneLine(address) }]
  if (name === "") return []
  return [
    /\s|=\?/.test(name)
      ? { name: HeaderText.decoded(name), address: "" }
      : { name: "", address: HeaderText.oneLine(name) }
  ]
}

/**
 * Parses the mailboxes of address fields (RFC 5322, section 3.4), with groups as their members. Encoded words are
 * names and never form an address (RFC 2047, section 5). Recipients may have no domain, like local users, and stay
 * unchanged. `isWhole` is false if there are more than `most`, or more characters than are parsed.
 */
export const recipients = (fields: ReadonlyArray<HeaderField>, most: number, charset?: string) => {
  const found: Array<Mailbox> = []
  let left = mostChars
  for (const field of fields) {
    const value = HeaderText.rawValue(field, charset)
    const { isWhole, mailboxes } = start(value, left)
    left -= value.length
    for (const mailbox of mailboxes) {
      if (found.length === most) return { mailboxes: found, isWhole: false }
      found.push(...legible(mailbox))
    }
    if (!isWhole) return { mailboxes: found, isWhole }
  }
  return { mailboxes: found, isWhole: true }
}

/**
 * The mailbox of an author with an unambiguous domain, or null. DMARC has no verdict on authors of several domains
 * (RFC 9989, section 5.3.1). A field that is too long to be parsed as a whole may have another one.
 */
export const author = (field: HeaderField, charset?: string): Mailbox | null => {
  const { isWhole, mailboxes: all } = start(HeaderText.rawValue(field, charset), mostChars)
  if (!isWhole) return null
  const mailboxes = all.flatMap(({ address, name }) =>
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
  const written = writtenDomain(first)
  const domain = inAscii(written)
  // The form of a domain costs more than all else, so the same letters are not looked at again.
  return mailboxes.every((mailbox) => {
    const other = writtenDomain(mailbox)
    return other === written || inAscii(other) === domain
  })
}

const writtenDomain = ({ address }: Mailbox): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

const inAscii = (domain: string): string => domainToASCII(domain) || domain
