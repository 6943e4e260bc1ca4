import { createHash } from "node:crypto"
import type { DomainId } from "../model/Domain.ts"

/** Recognises a message that has been received for this recipient before, by the hash of its bytes as they came. */
export const of = (domainId: DomainId, recipient: string, sha256: Uint8Array) =>
  createHash("sha256").update(`${domainId}\n${recipient}\n`).update(sha256).digest()
