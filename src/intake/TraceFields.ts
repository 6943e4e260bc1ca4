import { DateTime } from "effect"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"

/** The protocol keyword of the `Received` field (RFC 3848, RFC 6531 section 4.3). */
export interface Transmission {
  readonly extended: boolean
  readonly encrypted: boolean
  readonly utf8: boolean
  /** The TLS version of the client, null without TLS, or `throughServer` of `InboundEmail`. */
  readonly tls: string | null
}

const protocol = (transmission: Transmission | "HTTP") => {
  if (transmission === "HTTP") return transmission
  const { encrypted, extended, utf8 } = transmission
  return `${utf8 ? "UTF8SMTP" : extended ? "ESMTP" : "SMTP"}${encrypted && (extended || utf8) ? "S" : ""}`
}

/** Sanitizes client text for one header line: no control characters, comments or folding, limited length. */
const tame = (text: string, allowed: RegExp) => text.replace(allowed, "").slice(0, 255)

/** Checks whether this service added a `Received` field under this name. Relays may have refolded it. */
export const isBy = (mxHost: string, value: Uint8Array): boolean =>
  Buffer.from(value.subarray(0, 2_000))
    .toString("latin1")
    .replace(/\s+/g, " ")
    .toLowerCase()
    .includes(` by ${mxHost} with `)

/**
 * Makes the trace fields of a receiving server (RFC 5321, section 4.4). Names the recipient only if it is the only one,
 * to keep others private.
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
  const isKnown = address !== "" && (transmission !== "HTTP" || envelope.relayed === true)
  const only = recipients.length === 1 ? recipients[0] : undefined
  const date = DateTime.toDateUtc(receivedAt).toUTCString().replace("GMT", "+0000")
  const received = [
    `from ${helo}${isKnown ? ` ([${literal}])` : ""}${envelope.relayed === true ? " (as the relay says)" : ""}`,
    `by ${mxHost} with ${protocol(transmission)} id ${id}`,
    ...(only === undefined ? [] : [`for <${tame(only, /[\p{Cc}<>]/gu)}>`])
  ].join("\r\n\t")
  return `Return-Path: <${tame(envelope.from, /[\p{Cc}<>]/gu)}>\r\nReceived: ${received};\r\n\t${date}\r\n`
}
