import { createPublicKey, type KeyObject } from "node:crypto"
import * as Result from "effect/Result"
import { BoundedMap } from "../cache/BoundedMap.ts"
import type { Ask } from "./SenderDns.ts"
import * as TagList from "./TagList.ts"

/** A published key (RFC 6376, section 3.6.1). */
export interface DkimKey {
  readonly type: "rsa" | "ed25519"
  readonly key: KeyObject
  /** It signs for no subdomain. */
  readonly isStrict: boolean
}

/** The maximum number of cached keys. An RSA key takes some KB. */
const mostKept = 1_000
const longestText = 2_048

/** The minimum length of an RSA key (RFC 8301, section 3.2). */
const fewestBits = 1_024

/** The DNS result of a key: the key, or an error code. */
export type Found = DkimKey | { readonly failure: string }

/** Decodes the key of a name. Undefined for any record that is not a usual mail signing key. */
export type Find = (ask: Ask, name: string) => Promise<Found | undefined>

/** Decodes keys, and caches them by the text of their record. */
export const make = (): Find => {
  const kept = new BoundedMap<string, DkimKey | undefined>(mostKept)

  const keyOf = (record: string): DkimKey | undefined => {
    const text = record.replace(/\s+/g, "")
    if (text.length > longestText) return undefined
    if (kept.has(text)) return kept.get(text)
    const key = read(text)
    kept.set(text, key)
    return key
  }

  return (ask, name) =>
    ask(name, "TXT").then(
      // The first of several records counts (RFC 6376, section 3.6.2.2, leaves it open).
      (records) => (Array.isArray(records) && Array.isArray(records[0]) ? keyOf(records[0].join("")) : undefined),
      (error: unknown) => {
        const code = error instanceof Error && "code" in error ? error.code : undefined
        return typeof code === "string" && /^[A-Z]+$/.test(code) ? { failure: code } : undefined
      }
    )
}

const read = (text: string): DkimKey | undefined => {
  const tags = TagList.read(text)
  if (tags === undefined) return undefined
  const type = tags.get("k") ?? "rsa"
  const published = tags.get("p") ?? ""
  if (
    (type !== "rsa" && type !== "ed25519") ||
    // Empty if revoked.
    !/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(published) ||
    (tags.has("v") && !/^v=DKIM1(?:;|$)/.test(text)) ||
    !lists(tags.get("s"), "*", "email") ||
    !lists(tags.get("h"), "sha256")
  ) {
    return undefined
  }
  const key = Result.getOrUndefined(Result.try(() => keyOf(Buffer.from(published, "base64"), type)))
  if (key?.asymmetricKeyType !== type) return undefined
  if (type === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < fewestBits) return undefined
  return { type, key, isStrict: tags.has("t") && lists(tags.get("t"), "s") }
}

/** A bare key as in RFC 8463 (section 4), an RSAPublicKey, or, most often, a SubjectPublicKeyInfo. */
const keyOf = (bytes: Buffer, type: DkimKey["type"]): KeyObject | undefined => {
  if (type === "ed25519") {
    return bytes.length === 32 ? spki(Buffer.concat([ed25519Prefix, bytes])) : undefined
  }
  return isBareRsa(bytes) ? createPublicKey({ key: bytes, format: "der", type: "pkcs1" }) : spki(bytes)
}

const spki = (key: Buffer) => createPublicKey({ key, format: "der", type: "spki" })

const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex")

/** A sequence of integers. Other key structures start with another sequence. */
const isBareRsa = (bytes: Buffer): boolean => {
  const length = bytes[1] ?? 0
  return bytes[0] === 0x30 && bytes[length < 0x80 ? 2 : 2 + (length & 0x7f)] === 0x02
}

/** Whether a list contains one of these. A missing list has no limits. */
const lists = (value: string | undefined, ...some: ReadonlyArray<string>): boolean =>
  value === undefined ||
  value
    .toLowerCase()
    .split(":")
    .some((entry) => some.includes(entry))
