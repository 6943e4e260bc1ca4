import { Context, Effect, Layer } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import * as Resolver from "../providers/dns/Resolver.ts"
import type { Answer } from "../sender/PortDns.ts"

/** Answers a DNS query of a sender check. */
type Answers = (name: string, type: string) => Effect.Effect<Answer>

/**
 * Answers the DNS queries of sender checks on the main thread. Undefined with Inlet's own resolver, because parser
 * threads then query `DNS_SERVERS` themselves.
 */
export const SenderQueries = Context.Reference<Answers | undefined>("inlet/reading/SenderQueries", {
  defaultValue: () => undefined
})

/** Sender checks use the `Dns` of the service, also if a program or a test replaces it. */
export const layer = Layer.effect(
  SenderQueries,
  Effect.map(Dns.Dns, (dns) => (Resolver.isOwn(dns) ? undefined : answersOf(dns)))
)

/** The time of all queries of a message, after which its thread no longer waits. */
const patience = "5 seconds"

const types = ["A", "AAAA", "CNAME", "MX", "PTR", "TXT"] as const
type Type = (typeof types)[number]

const answersOf =
  (dns: Dns.Dns["Service"]): Answers =>
  (name, given) => {
    const type = types.find((one) => one === given)
    if (type === undefined) return Effect.succeed({ code: codes.Unsupported })
    // Suspended, because a layer of a program may throw.
    return Effect.suspend(() => dns.resolve(name, type)).pipe(
      Effect.map((records): Answer => ({ records: records.map(inNode) })),
      Effect.catch(({ cause, reason }) => Effect.succeed<Answer>({ code: codeIn(cause) ?? codes[reason] })),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed<Answer>({ code: codes.Timeout }) })
    )
  }

/** A record as `node:dns` returns it. */
const inNode = (record: Dns.RecordFor<Type>) => {
  switch (record._tag) {
    case "A":
    case "AAAA":
      return NetAddress.formatIp(record.address)
    case "CNAME":
      return Host.toRelative(record.target)
    case "MX":
      return { exchange: Host.toRelative(record.exchange), priority: record.priority }
    case "PTR":
      return record.host.replace(/\.$/, "")
    case "TXT":
      // Node has one character for each byte.
      return record.chunks.map((chunk) => Buffer.from(chunk).toString("latin1"))
  }
}

/** `node:dns` distinguishes a name without such records, `ENODATA`, from an unknown one. */
const codeIn = (cause: unknown) => {
  const { code } = Object(cause) as { readonly code?: unknown }
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : undefined
}

const codes: Readonly<Record<Dns.DnsErrorReason, string>> = {
  NotFound: "ENOTFOUND",
  Timeout: "ETIMEOUT",
  Temporary: "ESERVFAIL",
  Refused: "EREFUSED",
  ServerFailure: "ESERVFAIL",
  BadName: "EBADNAME",
  InvalidResponse: "EBADRESP",
  Unsupported: "ENOTIMP",
  Unknown: "ESERVFAIL"
}
