import { Schema } from "effect"
import { DomainId } from "./Domain.ts"

export const InboundEmailId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("InboundEmailId"))
export type InboundEmailId = typeof InboundEmailId.Type

/** The storage key of a raw message: `inbound/<domain_id>/<uuid>.eml` (spec, section 2). */
export const RawRef = Schema.String.check(Schema.isPattern(/^inbound\/[\da-f-]{36}\/[\da-f-]{36}\.eml$/)).pipe(
  Schema.brand("RawRef")
)
export type RawRef = typeof RawRef.Type

export const rawRef = (domainId: DomainId, id: InboundEmailId): RawRef => RawRef.make(`inbound/${domainId}/${id}.eml`)

/** The message and domain of a storage key. */
export const ownerOf = (ref: RawRef) => {
  const [, domainId = "", file = ""] = ref.split("/")
  return { id: InboundEmailId.make(file.slice(0, -".eml".length)), domainId: DomainId.make(domainId) }
}

/** The `remoteAddress` of a simulated message. No SMTP session has it. */
export const simulatedAddress = "simulate"

/** Instead of a TLS version, for the client of a mail server in front of Inlet. Nobody says what it used. */
export const throughServer = "server"

/** The SMTP envelope (RFC 5321, section 3.3). `from` is empty for the null sender. */
export const Envelope = Schema.Struct({
  from: Schema.String,
  helo: Schema.String,
  remoteAddress: Schema.String.annotate({
    description: "the client's address. Empty if a relay did not name it"
  }),
  relayed: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description:
        "true if a relay handed the mail over with the ingest route. Then `helo` and `remoteAddress` are the word of the relay, and so is `authentication.spf`. Absent for mail by SMTP"
    })
  )
})
export type Envelope = typeof Envelope.Type

/**
 * True if Inlet itself saw the client. A relay could name another's address, and so must not use up the messages that
 * this address may send.
 */
export const isObserved = ({ relayed, remoteAddress }: Envelope): boolean =>
  relayed !== true && remoteAddress !== simulatedAddress
