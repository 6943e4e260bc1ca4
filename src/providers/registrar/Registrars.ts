import { Context } from "effect"
import type { RegistrarName } from "../../model/Order.ts"
import type { DnsHost } from "./DnsHost.ts"
import type { Registrar } from "./Registrar.ts"

/** One vendor: it sells names, and answers DNS for those it sold. */
export interface Vendor {
  readonly registrar: Registrar["Service"]
  readonly dnsHost: DnsHost["Service"]
}

/** The registrars that are configured, by name, in the order in which they win a tie. */
export class Registrars extends Context.Service<Registrars, ReadonlyMap<RegistrarName, Vendor>>()(
  "inlet/providers/registrar/Registrars"
) {}
