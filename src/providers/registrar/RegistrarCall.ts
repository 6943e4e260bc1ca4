import { type Duration, Effect, Schedule, Schema } from "effect"
import type { HttpClient, HttpClientRequest } from "effect/http"
import { parse as parseSuffix } from "tldts"
import type { DomainName } from "../../model/Domain.ts"
import type { RegistrarName } from "../../model/Order.ts"
import { reasonOf } from "../vendor/VendorAnswer.ts"
import { NameTaken, Refused, RegistrarError, Uncertain } from "./Registrar.ts"

/**
 * A failed call of a vendor's API. `refused`: nothing was done. `unavailable`: no answer or a server error. `unclear`:
 * an undecodable answer, so anything may have happened. `accepted`: the registry does it later.
 */
export class VendorFailure extends Schema.TaggedError<VendorFailure>()("VendorFailure", {
  kind: Schema.Literals(["refused", "unavailable", "unclear", "accepted"]),
  /** The vendor's error number, if any. */
  code: Schema.NullOr(Schema.String),
  message: Schema.String
}) {}

export const refused = (message: string, code: string | null = null) =>
  new VendorFailure({ kind: "refused", code, message })

export const unavailable = (message: string, code: string | null = null) =>
  new VendorFailure({ kind: "unavailable", code, message })

export const unclear = (message: string, code: string | null = null) =>
  new VendorFailure({ kind: "unclear", code, message })

export const accepted = (message: string) => new VendorFailure({ kind: "accepted", code: null, message })

/** The whole answer as text. Drops the client's own error, which contains the request with credentials. */
export const exchange = (client: HttpClient.HttpClient, request: HttpClientRequest.HttpClientRequest) =>
  client.execute(request).pipe(
    Effect.flatMap((response) => Effect.map(response.text, (body) => ({ status: response.status, body }))),
    Effect.mapError((error) => unavailable(`no answer (${reasonOf(error)})`))
  )

const waits = Schedule.exponential("200 millis").pipe(Schedule.jittered)

/** Retries calls that change nothing or set a complete state. */
export const safeToRepeat = <A, R>(self: Effect.Effect<A, VendorFailure, R>) =>
  Effect.retry(self, { schedule: waits, times: 3, while: ({ kind }) => kind === "unavailable" })

/** Converts failures to the service's errors. A timeout leaves the outcome unknown. */
export const asRegistrar =
  (registrar: RegistrarName, time: Duration.Input) =>
  <A, R>(self: Effect.Effect<A, VendorFailure | NameTaken, R>): Effect.Effect<A, RegistrarError, R> =>
    self.pipe(
      Effect.timeoutOrElse({ duration: time, orElse: () => Effect.fail(unavailable("no answer in time")) }),
      Effect.mapError((error) => {
        if (error._tag === "NameTaken") return new RegistrarError({ registrar, reason: error })
        const { kind, message } = error
        return new RegistrarError({
          registrar,
          reason:
            kind === "refused"
              ? new Refused({ message })
              : new Uncertain({ message, ...(kind === "accepted" ? { isAccepted: true } : {}) })
        })
      })
    )

/**
 * Checks a name that the vendor reports as taken. A registration with a lost answer may have succeeded, so it is
 * `NameTaken` only if the account does not hold it.
 */
export const whoHas = <R>(ours: Effect.Effect<boolean, VendorFailure, R>) =>
  ours.pipe(
    Effect.mapError(({ code, message }) => unclear(message, code)),
    Effect.flatMap((yes) => Effect.fail(yes ? unclear("the name is in our account already") : new NameTaken()))
  )

/** Splits a name at its public suffix: example.co.uk is `example` under `co.uk`. */
export const split = (name: DomainName) => {
  const { domain, domainWithoutSuffix, publicSuffix } = parseSuffix(name, { allowPrivateDomains: false })
  return domain === name && domainWithoutSuffix !== null && publicSuffix !== null
    ? { label: domainWithoutSuffix, suffix: publicSuffix }
    : undefined
}

export const parts = (name: DomainName) => {
  const found = split(name)
  return found === undefined ? Effect.fail(refused("the name can't be registered by itself")) : Effect.succeed(found)
}

/** Both vendors require the script of an IDN, which is unknown here, so IDNs are not bought. */
export const isPlain = (name: DomainName): boolean => !name.split(".").some((label) => label.startsWith("xn--"))

/** Parses a decimal price to cents, rounded up. Undefined for anything else. */
export const centsOf = (price: string | number): number | undefined => {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d+))?$/.exec(String(price)) ?? []
  if (whole === undefined) return undefined
  const more = /[1-9]/.test(fraction.slice(2)) ? 1 : 0
  return Number(whole) * 100 + Number(fraction.slice(0, 2).padEnd(2, "0")) + more
}

/** The TTL of records in seconds, valid for both vendors. */
export const ttl = 900
