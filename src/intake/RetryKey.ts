import { createHash } from "node:crypto"
import type { DomainId } from "../model/Domain.ts"

/** Identifies a repeated message for a recipient by the hash of the received bytes. */
export const of = (domainId: DomainId, recipient: string, sha256: Uint8Array) =>
  createHash("sha256").update(`${domainId}\n${recipient}\n`).update(sha256).digest()
