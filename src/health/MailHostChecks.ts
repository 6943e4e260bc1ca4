import { DateTime } from "effect"
import * as CertificateEnd from "../certificates/CertificateEnd.ts"
import { error, type HealthCheck, ok, unknown, warning } from "./HealthCheck.ts"
import type { Seen } from "./MailHost.ts"
import { type ShownCertificate, Silent, type Talk } from "./SmtpProbe.ts"

const day = 86_400_000

/** Days before the end of a certificate from which it is a warning. */
const daysOfWarning = 14

/** The name behind the code in the greeting of this service. */
const isOurs = ({ greeting }: Talk, host: string) => greeting.startsWith(`220 ${host} `)

const operator = "This is for the operator of the service"

/** Inlet refuses a start with both an ordered certificate and one in files. */
const status = `${operator}: GET /admin/status says why Inlet could not renew it`

/** The checks of port 25, STARTTLS and the certificate. `isRelayed` if a relay has a key to hand mail over without it. */
export const of = (seen: Seen, now: number, isRelayed: boolean): ReadonlyArray<HealthCheck> => {
  const talks = seen.answers.flatMap(({ talk }) => (talk instanceof Silent ? [] : [talk]))
  const greeted = talks.find((talk) => isOurs(talk, seen.host))
  const reached = port25(seen)
  return [
    isRelayed && reached.status === "error"
      ? warning(
          "port25",
          `${reached.message}. A relay with an ingest key needs no port 25`,
          "Nothing, if all mail comes through the relay"
        )
      : reached,
    ...(greeted === undefined ? [] : encryption(greeted, seen, now))
  ]
}

const port25 = (seen: Seen): HealthCheck => {
  const { answers, host, isNearby, port, problem } = seen
  const outside = `From another network: nc -v ${host} ${port}`
  if (problem !== null) {
    const message = `The mail host ${host} has no address in DNS (${problem})`
    return problem === "NotFound"
      ? error("port25", message, `${operator}: publish an A record for ${host}`)
      : unknown("port25", message, `Retry in a minute. ${operator}: check the name servers of ${host}`)
  }
  const failures = answers.flatMap(({ address, talk }) => {
    if (talk instanceof Silent) return [`${address}: ${talk.message}`]
    return isOurs(talk, host) ? [] : [`${address}: it greets with ${JSON.stringify(talk.greeting)}`]
  })
  const remedy = isNearby
    ? `${operator}: start it with the role smtp`
    : `${operator}: start it with the role smtp, and open port ${port}. Some networks do not let a machine reach its own public address, so test from another one. ${outside}`
  if (!isNearby && answers.every(({ talk }) => talk instanceof Silent && talk.isUnreached)) {
    return unknown(
      "port25",
      `This service cannot reach the mail server ${host} on port ${port} (${failures.join("; ")}). Senders may reach it`,
      `Many clouds block outgoing connections to port 25, and some networks do not let a machine reach its own public address. Test from another network: nc -v ${host} ${port}. If that fails, too: ${operator}. Start it with the role smtp, and open port ${port}`
    )
  }
  if (failures.length === answers.length) {
    return error("port25", `The mail server ${host} does not answer on port ${port} (${failures.join("; ")})`, remedy)
  }
  if (failures.length > 0) {
    return warning(
      "port25",
      `The mail server ${host} answers on port ${port} at only some of its addresses (${failures.join("; ")})`,
      `${operator}: remove the addresses from DNS that do not answer. ${outside}`
    )
  }
  return ok(
    "port25",
    isNearby
      ? `The mail server answers on this machine, at port ${port}. In development no other machine is asked`
      : `The mail server ${host} answers on port ${port}, seen from this service. It cannot see a firewall in front of it. ${outside}`
  )
}

const encryption = (talk: Talk, seen: Seen, now: number): ReadonlyArray<HealthCheck> => {
  const { certificate, offersStartTls } = talk
  const { host, isOrdered } = seen
  if (!offersStartTls) {
    return [
      warning(
        "starttls",
        `The mail server ${host} does not offer STARTTLS, so mail comes unencrypted`,
        `${operator}: a device in front of it may remove STARTTLS. Look for SMTP inspection in a firewall`
      )
    ]
  }
  if (certificate === null || typeof certificate === "string") {
    return [
      error(
        "starttls",
        `The mail server ${host} offers STARTTLS, and it fails (${certificate ?? "no certificate"})`,
        isOrdered ? status : `${operator}: check SMTP_TLS_CERT and SMTP_TLS_KEY with inlet doctor`
      )
    ]
  }
  return [
    ok("starttls", `The mail server ${host} offers STARTTLS, so senders encrypt mail`),
    dated(certificate, seen, now)
  ]
}

const dated = (
  { isForHost, isSelfSigned, names, validFrom, validTo }: ShownCertificate,
  { host, isOrdered }: Seen,
  now: number
): HealthCheck => {
  const until = DateTime.formatIso(DateTime.makeUnsafe(validTo)).slice(0, 10)
  const left = Math.floor((validTo - now) / day)
  const renew = isOrdered ? status : `${operator}: renew the certificate in SMTP_TLS_CERT`
  if (left < 0) return error("certificate", `The certificate of ${host} ended on ${until}`, renew)
  if (!isForHost) {
    return warning(
      "certificate",
      `The certificate is for ${names}, and not for ${host}. Senders that check it refuse to send`,
      `${operator}: get a certificate for ${host} (MX_HOST)`
    )
  }
  // A certificate of a week is renewed every few days.
  if (left < daysOfWarning && CertificateEnd.isLate({ validFrom, validTo }, now))
    return warning("certificate", `The certificate of ${host} ends on ${until}, in ${left} days`, renew)
  return ok(
    "certificate",
    isSelfSigned
      ? `The certificate of ${host} is self-signed. Senders encrypt, but cannot check that the server is yours`
      : `The certificate is for ${host}, until ${until}`
  )
}
