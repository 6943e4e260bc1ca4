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
