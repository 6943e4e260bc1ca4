import libmime from "libmime"
import addressparser from "nodemailer/lib/addressparser"
import type { HeaderField } from "../model/HeaderBlock.ts"
import type { Mailbox } from "../model/InboundEvent.ts"
import * as HeaderText from "./HeaderText.ts"

/**
 * The mailboxes of an address field (RFC 5322, section 3.4), groups as their
 * members. Encoded words are names, and never make an address (RFC 2047, section 5).
 */
export const parse = (field: HeaderField): ReadonlyArray<Mailbox> =>
  addressparser(HeaderText.rawValue(field), { flatten: true }).flatMap(({ address, name }) =>
    address === ""
      ? []
      : [{ name: HeaderText.oneLine(libmime.decodeWords(name)), address: HeaderText.oneLine(address) }]
  )

/** Whether this names one mailbox at one domain. */
export const isUsable = ({ address }: Mailbox): boolean => /^(?:[^\s@"]+|"[^"]*")@[^\s@]+$/.test(address)
