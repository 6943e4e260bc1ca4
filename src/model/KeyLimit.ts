import type { DomainId } from "./Domain.ts"

/** What a limited key may see: mail to local parts that the pattern takes. */
export interface KeyLimit {
  /** As the pattern of a webhook, in lower case. */
  readonly pattern: string
  /** The only domain, or null for all of the workspace. */
  readonly domainId: DomainId | null
}
