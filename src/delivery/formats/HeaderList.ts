import type { InboundEvent } from "../../model/InboundEvent.ts"
import * as AddressField from "./AddressField.ts"
import * as CarriedMessage from "./CarriedMessage.ts"

/** A header field, or the form field in its place, with its decoded value. */
export type HeaderPair = readonly [name: string, value: string]

/** The first value of a field in the event. */
export const first = ({ headers }: InboundEvent, name: string): string | undefined =>
  headers.find((header) => header.name.toLowerCase() === name)?.value

/** The sender of an event as an address field, empty for a bounce without `From`. */
export const from = ({ from, fromName }: InboundEvent): string =>
  AddressField.of([{ name: fromName ?? "", address: from }])

/** The address fields of an event that have addresses, written anew because decoded names are ambiguous. */
export const addresses = (event: InboundEvent): ReadonlyArray<HeaderPair> => {
  const fields: ReadonlyArray<HeaderPair> = [
    ["From", from(event)],
    ["To", AddressField.of(event.to)],
    ["Cc", AddressField.of(event.cc)],
    ["Reply-To", AddressField.of(event.replyTo)]
  ]
  return fields.filter(([, value]) => value !== "")
}

/**
 * The header of an event as decoded pairs: address fields written anew, without claims, and without the fields about
 * the content of the whole message, because the request has its parts.
 */
export const of = (event: InboundEvent): ReadonlyArray<HeaderPair> => {
  const anew = new Map(addresses(event).map((pair) => [pair[0].toLowerCase(), pair]))
  const written = new Set<string>()
  return event.headers.flatMap(({ name, value }): ReadonlyArray<HeaderPair> => {
    const lower = name.toLowerCase()
    if (CarriedMessage.isClaim(name) || isOfContent(lower)) return []
    if (!addressFields.has(lower)) return [[name, value]]
    const pair = anew.get(lower)
    if (pair === undefined || written.has(lower)) return []
    written.add(lower)
    return [[name, pair[1]]]
  })
}

const addressFields = new Set(["from", "to", "cc", "reply-to"])

/** Anymail 9 takes the whole parsed mail for a file where these are present. */
export const isOfContent = (lower: string) => lower === "content-disposition" || lower === "content-transfer-encoding"
