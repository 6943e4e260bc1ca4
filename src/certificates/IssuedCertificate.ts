import { createPrivateKey, X509Certificate } from "node:crypto"
import { Effect, Redacted, Result } from "effect"
import { Refused } from "../providers/authority/CertificateAuthority.ts"

/** The times of a certificate as issued. */
export interface Issued {
  readonly notBefore: number
  readonly notAfter: number
}

/** The part of a certificate's life after which it is renewed, and a random part of its life that is added. */
const renewalPart = 2 / 3
const jitterPart = 1 / 50

/** After a certificate none is ordered for this long, whatever the clock says. Let's Encrypt issues five in 7 days. */
const mostPauseSeconds = 48 * 3_600

/** Checks that a chain begins with a certificate of that key for the host. */
export const read = Effect.fnUntraced(function* (chain: string, key: Redacted.Redacted, host: string) {
  const parsed = Result.try(() => new X509Certificate(chain))
  if (Result.isFailure(parsed)) return yield* unusable("it is no PEM certificate")
  const certificate = parsed.success
  if (certificate.checkHost(host) === undefined) return yield* unusable(`it is not for ${host}`)
  if (!certificate.checkPrivateKey(createPrivateKey(Redacted.value(key)))) return yield* unusable("it has another key")
  const issued: Issued = {
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime()
  }
  if (issued.notAfter <= issued.notBefore) return yield* unusable("it ends before it begins")
  return issued
})

/** The type of the refusal of an issued certificate, beside those of the authority. */
const unusableType = "unusableCertificate"

const unusable = (why: string) =>
  new Refused({ type: unusableType, message: `The issued certificate is not usable: ${why}` })

export const isUnusable = ({ type }: Refused): boolean => type === unusableType

/** The time of its renewal. `random` is from 0 to 1. */
export const renewAt = ({ notAfter, notBefore }: Issued, random: number): number =>
  notBefore + (notAfter - notBefore) * (renewalPart + jitterPart * random)

/** Seconds until the next order at the earliest: a third of the life, and at most 48 hours. */
export const pauseSeconds = ({ notAfter, notBefore }: Issued): number =>
  Math.floor(Math.min((notAfter - notBefore) / 3_000, mostPauseSeconds))
