import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { DateTime } from "effect"

// The DER (X.690) structures of a self-signed X.509 certificate (RFC 5280).

const element = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const length =
    content.length < 0x80
      ? [content.length]
      : content.length < 0x100
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => element(0x30, ...parts)

/** An OBJECT IDENTIFIER, by its encoded bytes. */
const oid = (hex: string) => element(0x06, Buffer.from(hex, "hex"))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))

/** A name with only a common name. */
const named = (host: string) =>
  // The field has room for 64 characters. The whole name is among the alternative names.
  sequence(element(0x31, sequence(oid("550403"), element(0x0c, Buffer.from(host.slice(0, 64))))))

/** `YYMMDDHHMMSSZ`, valid until 2049. */
const utcTime = (millis: number) =>
  element(0x17, Buffer.from(`${DateTime.formatIso(DateTime.makeUnsafe(millis)).replace(/\D/g, "").slice(2, 14)}Z`))

const extension = (id: string, ...value: ReadonlyArray<Uint8Array>) => sequence(oid(id), element(0x04, ...value))

const pem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`

const day = 86_400_000

/** A certificate for `host` by its own P-256 key, as PEM. The times are in milliseconds. */
export const certificate = (privateKey: KeyObject, host: string, notBefore: number, notAfter: number): string => {
  const serial = randomBytes(16)
  // A positive number without a leading zero.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const content = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, serial),
    ecdsaWithSha256,
    named(host),
    sequence(utcTime(notBefore), utcTime(notAfter)),
    named(host),
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    element(0xa3, sequence(extension("551d11", sequence(element(0x82, Buffer.from(host))))))
  )
  const signature = element(0x03, Buffer.from([0]), sign("sha256", content, privateKey))
  return pem("CERTIFICATE", sequence(content, ecdsaWithSha256, signature))
}

/** Creates a P-256 key and a self-signed certificate for `host`, valid for a year from the day before `now`. */
export const selfSigned = (host: string, now: number): { readonly key: string; readonly cert: string } => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: certificate(privateKey, host, now - day, now + 365 * day)
  }
}
