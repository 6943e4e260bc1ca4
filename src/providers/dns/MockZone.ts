import { Effect, Layer } from "effect"
import { Dns, Host } from "effect/net"
import { SqlClient } from "effect/sql"
import * as Resolver from "./Resolver.ts"

interface Row {
  readonly type: "MX" | "TXT"
  readonly priority: number | null
  readonly value: string
}

/** Answers for the zones of the mock registrar, and forwards all other queries. */
export const layer = Layer.effect(
  Dns.Dns,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const world = yield* Dns.Dns

    const toRecord = ({ priority, type, value }: Row): Dns.DnsRecord =>
      type === "MX"
        ? Dns.makeRecordUnsafe("MX", { exchange: Host.domainNameFromStringUnsafe(value), priority: priority ?? 0 })
        : Dns.makeRecordUnsafe("TXT", { chunks: [value] })

    const ofZone = (name: string, type: Dns.RecordType) =>
      type === "MX" || type === "TXT"
        ? sql<Row>`
            SELECT type, priority, value FROM mock_zone_records
            WHERE name = ${name.toLowerCase().replace(/\.$/, "")} AND type = ${type}
          `.pipe(
            Effect.mapError(
              (cause) =>
                new Dns.DnsError({
                  reason: "ServerFailure",
                  method: "resolve",
                  hostname: name,
                  recordType: type,
                  cause
                })
            )
          )
        : Effect.succeed([])

    const dns = Dns.make({
      lookup: (host, family) => (family === undefined ? world.lookup(host) : world.lookup(host, { family })),
      resolve: Effect.fnUntraced(function* (name, type) {
        const records = yield* ofZone(name, type)
        return records.length > 0 ? records.map(toRecord) : yield* world.resolve(name, type)
      })
    })
    return Resolver.isOwn(world) ? Resolver.markOwn(dns) : dns
  })
)
