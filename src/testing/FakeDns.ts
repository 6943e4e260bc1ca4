import { Effect, Layer } from "effect"
import { Dns, Host, NetAddress } from "effect/net"
import * as Mood from "./Mood.ts"

/** The records of a name. Sender checks use them, too: SPF, DKIM, DMARC and ARC. */
export interface Records {
  /** Each with its chunks joined. */
  readonly TXT?: ReadonlyArray<string>
  readonly MX?: ReadonlyArray<{ readonly priority: number; readonly exchange: string }>
  /** The addresses of hosts. `localhost` resolves to this machine by default. */
  readonly addresses?: ReadonlyArray<string>
}

const calls = ["resolve", "lookup"] as const

export interface FakeDns extends Mood.Moody<(typeof calls)[number]> {
  /** For `dns` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<Dns.Dns>
  /** Sets the answers of a name, replacing earlier ones. */
  answer(name: string, records: Records): Effect.Effect<void>
}

/** Public DNS in memory. `refuse` means an unknown name, `fail` a failing server, `hang` no answer. */
export const make = (zones: Readonly<Record<string, Records>> = {}): FakeDns => {
  const { under, will } = Mood.make(calls)
  const known = new Map(Object.entries(zones).map(([name, records]) => [canonical(name), records]))

  const failed = (reason: Dns.DnsErrorReason, name: string, type: Dns.RecordType) =>
    Effect.fail(new Dns.DnsError({ reason, method: "resolve", hostname: name, recordType: type }))
  const recordsOf = (name: string, type: Dns.RecordType): ReadonlyArray<Dns.DnsRecord> => {
    const { MX = [], TXT = [], addresses = [] } = known.get(canonical(name)) ?? {}
    const ips = () => addresses.map(NetAddress.ipFromStringUnsafe)
    switch (type) {
      case "A":
        return ips()
          .filter(NetAddress.isIpv4Address)
          .map((address) => Dns.makeRecordUnsafe("A", { address }))
      case "AAAA":
        return ips()
          .filter(NetAddress.isIpv6Address)
          .map((address) => Dns.makeRecordUnsafe("AAAA", { address }))
      case "TXT":
        return TXT.map((text) => Dns.makeRecordUnsafe("TXT", { chunks: [text] }))
      case "MX":
        return MX.map(({ exchange, priority }) =>
          Dns.makeRecordUnsafe("MX", { exchange: Host.domainNameFromStringUnsafe(exchange), priority })
        )
      default:
        return []
    }
  }

  const dns = Dns.make({
    lookup: (host) => {
      const name = String(host)
      const addresses = canonical(name) === "localhost" ? ["127.0.0.1"] : known.get(canonical(name))?.addresses
      const missing = Effect.fail(new Dns.DnsError({ reason: "NotFound", method: "lookup", hostname: name }))
      return addresses === undefined
        ? missing
        : Effect.sync(() => addresses.map(NetAddress.ipFromStringUnsafe)).pipe(
            under("lookup", {
              refuse: missing,
              fail: Effect.fail(new Dns.DnsError({ reason: "ServerFailure", method: "lookup", hostname: name }))
            })
          )
    },
    resolve: (host, type) => {
      const name = String(host)
      return Effect.suspend(() => {
        const records = recordsOf(name, type)
        return records.length > 0 ? Effect.succeed(records) : failed("NotFound", name, type)
      }).pipe(under("resolve", { refuse: failed("NotFound", name, type), fail: failed("ServerFailure", name, type) }))
    }
  })
  return {
    layer: Layer.succeed(Dns.Dns, dns),
    will,
    answer: (name, records) => Effect.sync(() => void known.set(canonical(name), records))
  }
}

/** The form in which names are compared: lower case, without the final dot. */
const canonical = (name: string) => name.toLowerCase().replace(/\.$/, "")
