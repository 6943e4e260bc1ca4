import { Context, type Effect } from "effect"
import type { DomainName } from "../../model/Domain.ts"
import type { RegistrarError } from "./Registrar.ts"

/** One record of a zone. `name` is relative to the domain; `@` is the domain itself. */
export type ZoneRecord =
  | { readonly type: "MX"; readonly name: string; readonly priority: number; readonly value: string }
  | { readonly type: "TXT"; readonly name: string; readonly value: string }

/** A TXT record. `name` is relative to the domain. */
export type Text = Omit<Extract<ZoneRecord, { readonly type: "TXT" }>, "type">

/** The DNS of domains that a registrar sold. */
export class DnsHost extends Context.Service<
  DnsHost,
  {
    /** Replaces the records of the zone, within a minute. Idempotent, because each call has the whole zone. */
    publish(name: DomainName, records: ReadonlyArray<ZoneRecord>): Effect.Effect<void, RegistrarError>
    /** Changes one record and leaves all others of the zone. Idempotent. Required for `ACME_CHALLENGE=dns`. */
    readonly texts?: {
      add(name: DomainName, text: Text): Effect.Effect<void, RegistrarError>
      remove(name: DomainName, text: Text): Effect.Effect<void, RegistrarError>
    }
  }
>()("inlet/providers/registrar/DnsHost") {}
