import { DateTime } from "effect"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"

/** How the message came: RFC 3848 and RFC 6531, section 4.3, name the combinations. */
export interface Transmission {
  readonly extended: boolean
  readonly encrypted: boolean
  readonly utf8: boolean
}

const protocol = (transmission: Transmission | "HTTP") => {
  if (transmission === "HTTP") return transmission
  const { encrypted, extended, utf8 } = transmission
  return `${utf8 ? "UTF8SMTP" : extended ? "ESMTP" : "SMTP"}${encrypted && (extended || utf8) ? "S" : ""}`
}

/** What a sender wrote, made fit for one header line: no controls, no comment or folding tricks, bounded. */
const tame = (text: string, allowed: RegExp) => text.replace(allowed, "").slice(0, 255)

/** Whether a Received field is one that this service has put there, under this name; relays may have folded it anew. */
export const isBy = (mxHost: string, value: Uint8Array): boolean =>
  Buffer.from(value.subarray(0, 2_000))
    .toString("latin1")
    .replace(/\s+/g, " ")
    .toLowerCase()
    .includes(` by ${mxHost} with `)

/**
 * The fields a receiving server puts in front of a message (RFC 5321, section
 * 4.4). A recipient is named only when it is the only one: others are nobody's business.
 */
export const render = (options: {
  readonly id: InboundEmailId
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<string>
  readonly mxHost: string
  readonly receivedAt: DateTime.Utc
  readonly transmission: Transmission | "HTTP"
}): string => {
  const { envelope, id, mxHost, receivedAt, recipients, transmission } = options
  const helo = tame(envelope.helo, /[^\w.:[\]-]/g) || "unknown"
  const address = tame(envelope.remoteAddress, /[^\da-fA-F.:]/g)
  const literal = address.includes(":") ? `IPv6:${address}` : address
  const only = recipients.length === 1 ? recipients[0] : undefined
  const date = DateTime.toDateUtc(receivedAt).toUTCString().replace("GMT", "+0000")
  const received = [
    transmission === "HTTP" ? `from ${helo}` : `from ${helo} ([${literal}])`,
    `by ${mxHost} with ${protocol(transmission)} id ${id}`,
    ...(only === undefined ? [] : [`for <${tame(only, /[\p{Cc}<>]/gu)}>`])
  ].join("\r\n\t")
  return `Return-Path: <${tame(envelope.from, /[\p{Cc}<>]/gu)}>\r\nReceived: ${received};\r\n\t${date}\r\n`
}
