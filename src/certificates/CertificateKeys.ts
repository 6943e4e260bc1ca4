import { generateKeyPairSync } from "node:crypto"
import { Redacted } from "effect"
import type { Place } from "./CertificateRows.ts"

/** What a key is encrypted for, so that no other row's key takes its place. */
export const ownerOf = ({ directory, host }: Place) => `certificate ${host} ${directory}`

/** The same for the key of the account. */
export const accountOwnerOf = ({ directory, host }: Place) => `certificate account ${host} ${directory}`

/** A new P-256 key as PEM. */
export const generate = (): Redacted.Redacted =>
  Redacted.make(
    generateKeyPairSync("ec", {
      namedCurve: "prime256v1",
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" }
    }).privateKey
  )
