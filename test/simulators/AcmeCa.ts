import { createHash, createPublicKey, type JsonWebKey, verify } from "node:crypto"
import * as x509 from "@peculiar/x509"
import { DateTime, Effect } from "effect"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const

const at = (millis: number) => DateTime.toDateUtc(DateTime.makeUnsafe(millis))

const day = 86_400_000

/** A certificate authority with a root of its own, which signs requests. */
export const make = Effect.gen(function* () {
  const keys = yield* Effect.promise(() => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]))
  const now = DateTime.toEpochMillis(yield* DateTime.now)
  const root = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: "01",
      name: "CN=Simulated Root",
      notBefore: at(now - 3_650 * day),
      notAfter: at(now + 3_650 * day),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)
      ]
    })
  )

  /** The chain for a request (RFC 2986), valid between two times in milliseconds. */
  const sign = Effect.fnUntraced(function* (csr: Buffer, serial: number, from: number, to: number) {
    const request = new x509.Pkcs10CertificateRequest(csr)
    const asked = request.getExtension("2.5.29.17")
    const names = asked === null ? [] : new x509.SubjectAlternativeNameExtension(asked.rawData).names.toJSON()
    const leaf = yield* Effect.promise(() =>
      x509.X509CertificateGenerator.create({
        serialNumber: serial.toString(16).padStart(4, "0"),
        issuer: root.subject,
        notBefore: at(from),
        notAfter: at(to),
        signingAlgorithm: algorithm,
        publicKey: request.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.SubjectAlternativeNameExtension(names),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])
        ]
      })
    )
    return { names: names.map(({ value }) => value), chain: `${leaf.toString("pem")}\n${root.toString("pem")}\n` }
  })

  return { root: root.toString("pem"), sign }
})

/** Whether a request is signed by the key, as ES256 (RFC 7515). */
export const isSigned = (
  {
    payload,
    protected: head,
    signature
  }: { readonly payload: string; readonly protected: string; readonly signature: string },
  jwk: JsonWebKey
) =>
  verify(
    "SHA256",
    Buffer.from(`${head}.${payload}`),
    { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url")
  )

/** RFC 7638. */
export const thumbprint = ({ crv, kty, x, y }: JsonWebKey) =>
  createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url")
