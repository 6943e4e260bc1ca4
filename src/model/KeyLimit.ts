import type { DomainId } from "./Domain.ts"

/** What a limited key may see: mail to local parts that the pattern takes. */
export interface KeyLimit {
  /** As the pattern of a webhook, in lower case. */
  readonly pattern: string
  /** The only domain, or null for all of the workspace. */
  readonly domainId: DomainId | null
}

/** The mail that a limited key sees, in words for its refusals. The pattern `*` takes every address. */
export const mailOf = ({ domainId, pattern }: KeyLimit): string => {
  if (pattern === "*" && domainId !== null) return "mail of one domain"
  return `mail for ${pattern}${domainId === null ? "" : " at one domain"}`
}
