import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { selfSigned } from "../../src/smtp/SelfSigned.ts"

const now = Date.UTC(2027, 0, 31)

describe("A self-signed certificate", () => {
  it("is for its host, signed with its own key, and valid for a year from the day before", () => {
    const { cert, key } = selfSigned("mx.example.com", now)
    const certificate = new X509Certificate(cert)
    assert.strictEqual(certificate.subject, "CN=mx.example.com")
    assert.strictEqual(certificate.checkHost("mx.example.com"), "mx.example.com")
    assert.isUndefined(certificate.checkHost("mx.example.org"))
    assert.isTrue(certificate.verify(certificate.publicKey))
    assert.isTrue(certificate.checkPrivateKey(createPrivateKey(key)))
    assert.strictEqual(Date.parse(certificate.validFrom), now - 86_400_000)
    assert.strictEqual(Date.parse(certificate.validTo), now + 365 * 86_400_000)
    assert.isDefined(createSecureContext({ cert, key }))
  })

  it("has a new positive serial number each time", () => {
    const serials = Array.from({ length: 50 }, () => new X509Certificate(selfSigned("mx.test", now).cert).serialNumber)
    assert.strictEqual(new Set(serials).size, 50)
    for (const serial of serials) assert.match(serial, /^[4-7][\dA-F]{31}$/)
  })

  it("supports a name of maximum length", () => {
    const host = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`
    assert.strictEqual(new X509Certificate(selfSigned(host, now).cert).checkHost(host), host)
  })
})
