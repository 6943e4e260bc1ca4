import { Context } from "effect"
import type { RegistrarName } from "../../model/Order.ts"
import type { DnsHost } from "./DnsHost.ts"
import type { Registrar } from "./Registrar.ts"

/** One vendor, which sells names and hosts their DNS. */
export interface Vendor {
  readonly registrar: Registrar["Service"]
  readonly dnsHost: DnsHost["Service"]
}

/** The configured registrars by name, in the order that decides ties. */
export class Registrars extends Context.Service<Registrars, ReadonlyMap<RegistrarName, Vendor>>()(
  "inlet/providers/registrar/Registrars"
) {}
