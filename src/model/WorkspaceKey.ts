import { Schema } from "effect"
import { DomainId } from "./Domain.ts"
import { Name } from "./Workspace.ts"

export const KeyId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type

/** The scope of an additional key. `read` reads mail and changes nothing. `ingest` hands mail over and does nothing else. */
export const KeyScope = Schema.Literals(["read", "ingest"])
export type KeyScope = typeof KeyScope.Type

/** The same limits as for a workspace's name. */
export const KeyName = Name.pipe(Schema.brand("KeyName"))
export type KeyName = typeof KeyName.Type

/** An additional key of a workspace, as the API lists it, without the key itself. */
export const WorkspaceKey = Schema.Struct({
  id: KeyId,
  scope: KeyScope,
  name: Schema.NullOr(KeyName),
  begins: Schema.String.annotate({ description: "the first characters of the key" }),
  pattern: Schema.NullOr(Schema.String).annotate({
    description: "the local parts whose mail a read key sees: `*` with only a domain as limit, null without a limit"
  }),
  domain_id: Schema.NullOr(DomainId).annotate({
    description: "the only domain of a limited key, or null for all domains"
  }),
  created_at: Schema.DateTimeUtcFromString,
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description: "to the hour, or null before the first use"
  })
}).annotate({ identifier: "WorkspaceKey" })
export type WorkspaceKey = typeof WorkspaceKey.Type
