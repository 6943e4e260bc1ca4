import type { BriefEvent } from "../events/BriefEvent.ts"
import type { Delivery } from "../model/Delivery.ts"

/** The maximum length of names and subjects for a model. */
const longestSubject = 120
const longestAddress = 80
const longestUrl = 400

/** A text of at most this many characters. */
export const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`

/** An address with a recognizable domain, of any length. */
export const shortAddress = (address: string) =>
  address.length <= longestAddress ? address : `…${address.slice(1 - longestAddress).toWellFormed()}`

/** A mail in 60 to 120 tokens, without absent fields. */
export const of = (
  {
    attachments,
    authentication,
    event_id,
    extracted,
    from,
    receivedAt,
    recipient,
    sender,
    spam,
    subject,
    textBytes,
    trust
  }: BriefEvent,
  { reason }: Pick<Delivery, "reason">
) => {
  const link = extracted?.links.find(({ confidence }) => confidence !== "low")
  return {
    event_id,
    received: receivedAt,
    to: shortAddress(recipient),
    from: shortAddress(from),
    dmarc: authentication.dmarc,
    from_is_confirmed: trust?.aligned,
    not_let_in: reason,
    spam: spam ?? undefined,
    subject: cut(subject, longestSubject),
    sender: sender ?? undefined,
    code: extracted?.code?.value,
    code_is_a_guess: extracted?.code?.confidence === "low" ? true : undefined,
    link:
      link === undefined
        ? undefined
        : { kind: link.kind, ...(link.url.length <= longestUrl ? { url: link.url } : { read: "part=links" }) },
    attachments: attachments === 0 ? undefined : attachments,
    bytes: textBytes
  }
}
