import { createHash, verify as verifyBytes } from "node:crypto"
import * as Result from "effect/Result"
import * as DkimCanonical from "./DkimCanonical.ts"
import type * as DkimKey from "./DkimKey.ts"
import type { DkimSignature } from "./DkimSignature.ts"
import type { PlainField } from "./PlainHeader.ts"
import type { Ask } from "./SenderDns.ts"

/** The result of a signature in the terms of RFC 8601, section 2.7.1. */
interface Outcome {
  readonly result: "pass" | "fail" | "neutral" | "temperror"
  readonly comment?: string
}

export interface Verified {
  readonly signature: DkimSignature
  readonly outcome: Outcome
}

/** The services for verifying signatures. */
export interface Means {
  readonly ask: Ask
  readonly findKey: DkimKey.Find
  /** When the message was received, in seconds of 1970. */
  readonly seconds: number
}

/**
 * Verifies the signatures of a message, in order (RFC 6376, section 6.1). Queries no key if the body hash differs.
 * Undefined if a key is unusual.
 */
export const verify = (
  signatures: ReadonlyArray<DkimSignature>,
  fields: ReadonlyArray<PlainField>,
  body: Buffer,
  { ask, findKey, seconds }: Means
): Promise<ReadonlyArray<Verified> | undefined> => {
  const forms = [...new Set(signatures.map(({ bodyForm }) => bodyForm))]
  const hashes = new Map(forms.map((form) => [form, DkimCanonical.bodyHash(body, form)]))
  const isIntact = ({ bodyForm, bodyHash }: DkimSignature) => hashes.get(bodyForm) === bodyHash
  const names = [...new Set(signatures.filter(isIntact).map(keyName))]
  return Promise.all(names.map((name) => findKey(ask, name))).then((found) => {
    const keys = new Map(names.map((name, index) => [name, found[index]]))
    const verified: Array<Verified> = []
    for (const signature of signatures) {
      const key = keys.get(keyName(signature))
      const outcome = isIntact(signature) ? key && withKey(signature, fields, key, seconds) : changedBody
      if (outcome === undefined) return undefined
      verified.push({ signature, outcome })
    }
    return verified
  })
}

/** Where the key of a signature is published (RFC 6376, section 3.6.2.1). */
const keyName = ({ domain, selector }: DkimSignature): string => `${selector}._domainkey.${domain}`

const changedBody: Outcome = { result: "fail", comment: "body hash did not verify" }

/** Verifies as in RFC 6376, sections 6.1.2 and 6.1.3. Undefined if the platform cannot decide. */
const withKey = (
  signature: DkimSignature,
  fields: ReadonlyArray<PlainField>,
  found: DkimKey.Found,
  seconds: number
): Outcome | undefined => {
  if ("failure" in found) {
    return found.failure === "ENOTFOUND" || found.failure === "ENODATA"
      ? { result: "neutral", comment: "no key" }
      : { result: "temperror", comment: `DNS failure: ${found.failure}` }
  }
  if (`${found.type}-sha256` !== signature.algorithm) {
    return { result: "neutral", comment: "inappropriate key algorithm" }
  }
  if (found.isStrict && !isOfDomainItself(signature)) return { result: "neutral", comment: "domain mismatch" }
  const isGood = Result.try(() => isSigned(signature, fields, found))
  if (Result.isFailure(isGood)) return undefined
  if (!isGood.success) return { result: "fail", comment: "bad signature" }
  return signature.expires < seconds ? { result: "neutral", comment: "expired" } : { result: "pass" }
}

/** The allowed algorithms: RFC 8301, section 3.1, and RFC 8463, section 3, which signs the hash. */
const isSigned = (signature: DkimSignature, fields: ReadonlyArray<PlainField>, { key, type }: DkimKey.DkimKey) => {
  const header = DkimCanonical.header(fields, signature.names, signature.field, signature.headerForm)
  const bytes = Buffer.from(signature.signature, "base64")
  return type === "rsa"
    ? verifyBytes("sha256", header, key, bytes)
    : verifyBytes(null, createHash("sha256").update(header).digest(), key, bytes)
}

const isOfDomainItself = ({ domain, identity }: DkimSignature) =>
  identity === undefined || identity.toLowerCase().endsWith(`@${domain.toLowerCase()}`)

/** The properties of a signature in the header field (RFC 8601, section 2.7.1, and RFC 6008 for `header.b`). */
export const info = ({ outcome, signature }: Verified): string => {
  const { comment, result } = outcome
  const { algorithm, domain, identity, selector } = signature
  const start = signature.signature.slice(0, 8)
  return [
    `dkim=${result}`,
    ...(comment === undefined ? [] : [`(${comment})`]),
    `header.d=${domain}`,
    `header.i=${identity ?? `@${domain}`}`,
    `header.s=${selector}`,
    `header.a=${algorithm}`,
    // Only a token needs no quotes (RFC 2045, section 5.1).
    `header.b=${/[/=]/.test(start) ? `"${start}"` : start}`
  ].join(" ")
}
