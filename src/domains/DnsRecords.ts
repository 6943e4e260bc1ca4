import { Schema } from "effect"
import { DomainName } from "../model/Domain.ts"

/** The name of the ownership TXT record (spec, section 2). */
export const txtName = (name: DomainName): string => `_service-verify.${name}`

/** The MX records to publish, and the current ones. */
export const MxRecords = Schema.Struct({
  domain: DomainName,
  records: Schema.Array(
    Schema.Struct({
      type: Schema.Literal("MX"),
      name: Schema.String,
      priority: Schema.Int,
      value: Schema.String
    })
  ),
  observed: Schema.Array(Schema.Struct({ priority: Schema.Int, value: Schema.String })),
  configured: Schema.Boolean
}).annotate({ identifier: "MxRecords" })
export type MxRecords = typeof MxRecords.Type

/** The records of a domain beside the answers of DNS. */
export const DnsState = Schema.Struct({
  domain: DomainName,
  records: Schema.Array(
    Schema.Struct({
      type: Schema.Literals(["TXT", "MX"]),
      name: Schema.String,
      value: Schema.String,
      priority: Schema.NullOr(Schema.Int),
      observed: Schema.Array(Schema.String).annotate({ description: "the values that DNS has now, MX with priority" }),
      configured: Schema.Boolean.annotate({ description: "true if DNS has the value" }),
      problem: Schema.NullOr(Schema.String).annotate({ description: "why DNS did not answer, or null" })
    })
  )
}).annotate({ identifier: "DnsState" })
export type DnsState = typeof DnsState.Type
