import { Predicate } from "effect"
import type { SqlError } from "effect/sql"

// Node reads the variable when it starts, before Inlet reads a file of settings.
const unknownCa = [
  "is not signed by a CA that Node knows",
  "Set NODE_EXTRA_CA_CERTS to the file of its CA, in the environment of the process"
] as const

/** What is wrong with a certificate that Node rejects, and what to do, by the code of the error. */
const troubles: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownCa,
  SELF_SIGNED_CERT_IN_CHAIN: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownCa,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownCa,
  ERR_TLS_CERT_ALTNAME_INVALID: ["is for another host", "Name the host as its certificate does"],
  CERT_HAS_EXPIRED: ["has expired", "Renew it, or correct the clock of this machine"]
}

const troubleOf = ({ reason: { cause } }: SqlError.SqlError) =>
  Predicate.hasProperty(cause, "code") ? troubles[`${cause.code}`] : undefined

/** True if Node rejects the certificate of the server, which only an operator can change. */
export const isRejected = (error: SqlError.SqlError): boolean => troubleOf(error) !== undefined

/** Explains it with the next step, if that is the error. */
export const explain = (where: string, error: SqlError.SqlError, message: string): string | undefined => {
  const trouble = troubleOf(error)
  return trouble && `The certificate of the database at ${where} ${trouble[0]} (${message}). ${trouble[1]}`
}
