import { DateTime, Schema } from "effect"
import { simulatedAddress, throughServer } from "../model/InboundEmail.ts"
import { InboundEvent } from "../model/InboundEvent.ts"
import * as Traits from "../model/Traits.ts"
import * as SessionText from "./SessionText.ts"
import type { ReadMail, UnreadMail } from "./TracedMail.ts"
import { done, type TraceStep, wrong } from "./TraceEntry.ts"

const count = (number: number, noun: string, nouns = `${noun}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`

/** A JSON string at the start of a payload. */
const messageIdIn = /"message_id":("(?:[^"\\]|\\.)*")/

const decodeText = Schema.decodeUnknownSync(Schema.fromJsonString(InboundEvent.fields.message_id))

/** The Message-ID, which is among the first fields of a payload. */
export const messageIdOf = ({ head }: Pick<ReadMail, "head">): string | null => {
  const found = messageIdIn.exec(head)?.[1]
  return found === undefined ? null : decodeText(found)
}

/** The results of a header field, such as `SPF pass, DKIM fail`. */
const verdicts = (field: string | null) => {
  const results = ["spf", "dkim", "dmarc"].flatMap((method) => {
    const result = new RegExp(`[;\\s]${method}=(\\w+)`).exec(field ?? "")?.[1]
    return result === undefined ? [] : [`${method.toUpperCase()} ${result}`]
  })
  return results.length === 0 ? "The sender was not checked" : results.join(", ")
}

const how = (tls: string | null) =>
  tls === throughServer ? "through a mail server in front" : tls === null ? "without TLS" : `with ${tls}`

/** From the connection to the storage. */
export const received = (mail: UnreadMail): ReadonlyArray<TraceStep> => {
  const { bytes, helo, mailFrom, receivedAt, recipients, relayed, remoteAddress, storedMs, tls } = mail
  const isSimulated = remoteAddress === simulatedAddress
  const session = isSimulated
    ? "Simulated with the API"
    : SessionText.of({ address: remoteAddress, helo, relayed }, `, ${how(tls)}`)
  const shown = recipients.slice(0, 3).join(", ")
  const took = isSimulated || storedMs === null ? "" : ` after ${storedMs} ms`
  const others = recipients.length > 3 ? ` and ${count(recipients.length - 3, "other address", "other addresses")}` : ""
  return [
    done("session", receivedAt, `${session}. Envelope sender: ${mailFrom === "" ? "none, as bounces have" : mailFrom}`),
    done("recipient", receivedAt, `Accepted for ${shown}${others}`),
    done(
      "stored",
      receivedAt,
      `Stored${bytes === null ? "" : ` ${count(bytes, "byte")}`}${isSimulated || relayed ? "" : ", and answered 250"}${took}`
    )
  ]
}

/** From the storage to the event. */
export const parsed = (mail: ReadMail): ReadonlyArray<TraceStep> => {
  const { authenticationResults, eventId, readAt, receivedAt, relayed, remoteAddress, traits } = mail
  const parse = Traits.parseOf(traits ?? 0)
  const kind = Traits.kindOf(traits ?? 0)
  const took = count(DateTime.toEpochMillis(readAt) - DateTime.toEpochMillis(receivedAt), "millisecond")
  const words = kind === undefined || kind === "person" ? "" : `Kind: ${kind}. `
  const sender = `${words}${verdicts(authenticationResults)}${relayed && remoteAddress !== "" ? ". SPF is about the client that the relay named" : ""}`
  const raw = `The whole message is at GET /api/domains/${mail.domainId}/events/${eventId}/raw`
  return [
    parse === "full"
      ? done("read", readAt, `Parsed after ${took}. ${sender}`)
      : wrong(
          "read",
          readAt,
          parse === "partial"
            ? `Parsed in part after ${took}, because the message is damaged or too large. ${sender}`
            : `Only the header was used after ${took}, because the message was too costly to parse, or two processes ended while they parsed it. ${sender}`,
          raw
        )
  ]
}

/** A stored message that no parser has finished. */
export const unparsed = (mail: UnreadMail): TraceStep =>
  mail.readAttempts > 1
    ? wrong(
        "read",
        null,
        `Not parsed yet, after ${count(mail.readAttempts, "attempt")}`,
        "Wait a minute. Inlet then makes an event of the header alone"
      )
    : done("read", null, "Waits to be parsed")
