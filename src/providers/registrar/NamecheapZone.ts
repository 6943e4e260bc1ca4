import { Effect, Schema } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import * as VendorXml from "../vendor/VendorXml.ts"
import type { Text, ZoneRecord } from "./DnsHost.ts"
import * as NamecheapApi from "./NamecheapApi.ts"
import * as RegistrarCall from "./RegistrarCall.ts"

/** The DNS records of the account's domains. */
export const make = (api: Effect.Success<ReturnType<typeof NamecheapApi.make>>) => {
  /** Replaces all records. */
  const setHosts = Effect.fnUntraced(function* (parameters: Readonly<Record<string, string>>) {
    const answer = yield* api.repeatedly("namecheap.domains.dns.setHosts", parameters)
    const { IsSuccess } = yield* Effect.flatMap(
      NamecheapApi.only(answer, "DomainDNSSetHostsResult"),
      NamecheapApi.attributes(HostsSet)
    )
    if (!IsSuccess) return yield* RegistrarCall.unclear("it did not say that the records are set")
  })

  const publish = Effect.fnUntraced(function* (name: DomainName, records: ReadonlyArray<ZoneRecord>) {
    const { label, suffix } = yield* RegistrarCall.parts(name)
    yield* setHosts({
      SLD: label,
      TLD: suffix,
      // Without it MX records are stored but not served.
      EmailType: "MX",
      ...Object.assign({}, ...records.map(hostParameters))
    })
  })

  /** All records of the zone as parameters of setHosts, also of types that Inlet does not publish. */
  const hosts = Effect.fnUntraced(function* (name: DomainName) {
    const { label, suffix } = yield* RegistrarCall.parts(name)
    const answer = yield* api.repeatedly("namecheap.domains.dns.getHosts", { SLD: label, TLD: suffix })
    const result = yield* NamecheapApi.only(answer, "DomainDNSGetHostsResult")
    const { EmailType, IsUsingOurDNS } = yield* NamecheapApi.attributes(Hosts)(result)
    if (!IsUsingOurDNS) {
      return yield* RegistrarCall.refused(`the name servers of ${name} are not those of Namecheap`)
    }
    const records = yield* Effect.forEach(
      [...VendorXml.at(result, "host"), ...VendorXml.at(result, "Host")],
      NamecheapApi.attributes(HostRecord)
    )
    return { label, suffix, EmailType, records }
  })

  /** setHosts replaces all records, so the others are read first. Nothing else may change the zone meanwhile. */
  const change = Effect.fnUntraced(function* (name: DomainName, how: "add" | "remove", text: Text) {
    const { EmailType, label, records, suffix } = yield* hosts(name)
    const others = records.filter(
      ({ Address, Name, Type }) => Type !== "TXT" || Name.toLowerCase() !== text.name || Address !== text.value
    )
    const own: typeof HostRecord.Type = {
      Name: text.name,
      Type: "TXT",
      Address: text.value,
      MXPref: "10",
      TTL: String(RegistrarCall.ttl)
    }
    yield* setHosts({
      SLD: label,
      TLD: suffix,
      ...(EmailType === undefined || EmailType === "" ? {} : { EmailType }),
      ...Object.assign({}, ...(how === "add" ? [...others, own] : others).map(givenParameters))
    })
  })
  const addText = (name: DomainName, text: Text) => change(name, "add", text)
  const removeText = (name: DomainName, text: Text) => change(name, "remove", text)

  return { publish, addText, removeText }
}

const Hosts = Schema.Struct({ EmailType: Schema.optional(Schema.String), IsUsingOurDNS: NamecheapApi.Flag })

const HostRecord = Schema.Struct({
  Name: Schema.String,
  Type: Schema.String,
  Address: Schema.String,
  MXPref: Schema.optional(Schema.String),
  TTL: Schema.optional(Schema.String)
})

const givenParameters = (
  { Address, MXPref = "10", Name, TTL = "1800", Type }: typeof HostRecord.Type,
  index: number
): Readonly<Record<string, string>> => {
  const n = index + 1
  return {
    [`HostName${n}`]: Name,
    [`RecordType${n}`]: Type,
    [`Address${n}`]: Address,
    [`MXPref${n}`]: MXPref,
    [`TTL${n}`]: TTL
  }
}

const HostsSet = Schema.Struct({ IsSuccess: NamecheapApi.Flag })

const hostParameters = (record: ZoneRecord, index: number) =>
  givenParameters(
    {
      Name: record.name,
      Type: record.type,
      Address: record.value,
      MXPref: record.type === "MX" ? String(record.priority) : "10",
      TTL: String(RegistrarCall.ttl)
    },
    index
  )
