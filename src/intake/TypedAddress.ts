import { canonical } from "../domains/DomainNames.ts"
import { DomainName } from "../model/Domain.ts"

/** An address of `RCPT TO`. */
export interface TypedAddress {
  /** The local part as typed by the client. */
  readonly localPart: string
  readonly domain: DomainName
}

/** Parses an address as typed by the client. Undefined without a domain, or for a relay request. */
export const parse = (typed: string): TypedAddress | undefined => {
  const at = typed.lastIndexOf("@")
  const localPart = typed.slice(0, Math.max(at, 0))
  const name = canonical(typed.slice(at + 1))
  if (localPart === "" || name === undefined || isRoute(localPart)) return undefined
  return { localPart, domain: DomainName.make(name) }
}

/** `user%host.example` requests relaying to that host (RFC 1123, section 5.2.16). Inlet does not relay. */
const isRoute = (localPart: string) => {
  const percent = localPart.lastIndexOf("%")
  const dot = localPart.indexOf(".", percent + 2)
  return percent !== -1 && dot !== -1 && dot < localPart.length - 1
}
