import { hash } from "node:crypto"

/** A Message-ID without angle brackets and case, as people and other systems write it. */
export const canonical = (messageId: string): string => messageId.trim().replace(/^<|>$/g, "").toLowerCase()

/** A hash by which a Message-ID is searched, without case. Null without a Message-ID. */
export const of = (messageId: string | null): bigint | null =>
  messageId === null ? null : hash("sha256", canonical(messageId), "buffer").readBigInt64BE()
