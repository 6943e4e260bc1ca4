import { Duration, Effect, Option, Schedule } from "effect"
import type { OrderError } from "../providers/authority/CertificateAuthority.ts"
import * as RetryDelay from "../schedule/RetryDelay.ts"

// What a failed order means for a person and for the next attempt.

/** Let's Encrypt allows five failed validations of a host in an hour, which the first three pauses stay below. */
const afterRefusals = Schedule.min([Schedule.exponential("15 minutes"), Schedule.spaced("3 hours")]).pipe(
  Schedule.jittered
)

/** Without an answer no validation fails. */
const afterSilence = Schedule.min([Schedule.exponential("1 minute"), Schedule.spaced("1 hour")]).pipe(Schedule.jittered)

/** A longer `Retry-After` is the mistake of a server or its clock. */
const mostSeconds = 7 * 86_400

/** Seconds until the next attempt after so many failures, this one included. Never before a `Retry-After`. */
export const pauseSeconds = Effect.fnUntraced(function* (error: OrderError, failures: number) {
  const schedule = error._tag === "Unreachable" ? afterSilence : afterRefusals
  // Both grow no further after the tenth.
  const delay = yield* RetryDelay.after(schedule, Math.min(failures, 10))
  const own = Option.match(delay, { onNone: () => 0, onSome: Duration.toSeconds })
  const asked = "retryAfterSeconds" in error ? (error.retryAfterSeconds ?? 0) : 0
  return Math.ceil(Math.max(own, Math.min(asked, mostSeconds)))
})

const lostAccount: ReadonlySet<string> = new Set(["unauthorized", "accountDoesNotExist"])

/** Whether the authority no longer takes the account, which it has deactivated or forgotten. */
export const isAboutAccount = (error: OrderError): boolean =>
  error._tag === "Refused" && error.step === "account" && lostAccount.has(error.type)

/** The failure, and what to do about it. */
export const explain = (error: OrderError, host: string, challenge: "http" | "dns"): string => {
  const advice = adviceOn(error, host, challenge)
  const message = error.message.replace(/\.$/, "")
  return advice === "" ? message : `${message}. ${advice}`
}

const adviceOn = (error: OrderError, host: string, challenge: "http" | "dns"): string => {
  switch (error._tag) {
    case "NotProven":
      return ""
    case "RateLimited":
      return "Inlet waits until the authority allows the next order"
    case "Unreachable":
      return "Check that this machine reaches ACME_DIRECTORY. Inlet connects directly, without a proxy"
    case "Refused":
      if (isAboutAccount(error)) return "Inlet makes another account with the next attempt"
      // The authority has not looked at the host yet.
      if (error.step !== undefined) return ofAny(host)[error.type] ?? ""
      return challenge === "http"
        ? (ofHttp(host)[error.type] ?? ofAny(host)[error.type] ?? "")
        : ofDns(host, error.type)
  }
}

const ofHttp = (host: string): Readonly<Record<string, string>> => {
  const elsewhere = `Another server answers at http://${host}/.well-known/acme-challenge/. Forward this path to HTTP_PORT, or point the A and AAAA records of ${host} here`
  return {
    connection: `Port 80 of ${host} is not reached. Open it, and forward http://${host}/.well-known/acme-challenge/ to HTTP_PORT`,
    unauthorized: elsewhere,
    incorrectResponse: elsewhere,
    malformed: elsewhere,
    tls: `http://${host}/ redirects to https. Exempt /.well-known/acme-challenge/ from the redirect`
  }
}

const ofDns = (host: string, type: string): string =>
  ["unauthorized", "incorrectResponse"].includes(type)
    ? `The authority did not find the TXT record _acme-challenge.${host}. Check that the name servers of the domain are those of the registrar`
    : (ofAny(host)[type] ?? "")

const ofAny = (host: string): Readonly<Record<string, string>> => ({
  dns: `Check the DNS records of ${host}: an A or AAAA record that names this service, and no failing DNSSEC`,
  caa: `A CAA record forbids this authority to issue for ${host}. Add it to the record`,
  rejectedIdentifier: `The authority does not issue for ${host}. Check MX_HOST`,
  externalAccountRequired:
    "This authority requires an external account, which Inlet does not support. Choose another ACME_DIRECTORY",
  userActionRequired: "The authority has new terms of service. Accept them as it says",
  invalidContact: "Correct ACME_EMAIL",
  unsupportedContact: "Correct ACME_EMAIL"
})
