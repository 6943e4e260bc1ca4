import { Clock, DateTime, Effect, Option, Random, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { CertificateAuthority, Unreachable } from "../providers/authority/CertificateAuthority.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as CertificateKeys from "./CertificateKeys.ts"
import * as CertificateRows from "./CertificateRows.ts"
import * as HostProof from "./HostProof.ts"
import * as IssuedCertificate from "./IssuedCertificate.ts"
import * as OrderFailure from "./OrderFailure.ts"

/** A third of the lease. */
const extendEvery = "20 seconds"

/** The longest order: a TXT record that spreads for 20 minutes, and two steps of 5 minutes at the authority. */
const longest = "40 minutes"

/**
 * Makes an effect that orders the certificate of a host if one is due and no other process does. Stores the outcome. A
 * failure leaves the certificate in use as it is.
 */
export const make = Effect.fnUntraced(function* (place: CertificateRows.Place, challenge: "http" | "dns") {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* SecretsKey
  const authority = yield* CertificateAuthority
  const random = yield* SecureRandom.SecureRandom
  const prove = yield* challenge === "http" ? HostProof.http : HostProof.dns
  const { directory, host } = place
  const claim = CertificateRows.claim(sql, place)
  const owners = { key: CertificateKeys.ownerOf(place), account: CertificateKeys.accountOwnerOf(place) }
  const about = { host, authority: new URL(directory).host }

  const opened = (sealed: Uint8Array | null, owner: string) =>
    sealed === null ? Effect.sync(CertificateKeys.generate) : secrets.open(sealed, owner)

  const issue = Effect.fnUntraced(function* (lease: string, claimed: CertificateRows.Claimed) {
    const key = yield* opened(claimed.orderKey, owners.key)
    const accountKey = yield* opened(claimed.accountKey, owners.account)
    // Before the authority knows them: a process that takes over continues the order instead of placing another one.
    yield* CertificateRows.keep(sql, place, lease, {
      account: yield* secrets.seal(accountKey, owners.account),
      order: yield* secrets.seal(key, owners.key)
    })
    const chain = yield* authority.issue({
      host,
      accountKey,
      key,
      earlier: claimed.orderUrl,
      begun: (url) => Effect.orDie(CertificateRows.begin(sql, place, lease, url)),
      prove
    })
    const issued = yield* IssuedCertificate.read(chain, key, host)
    const renewAt = IssuedCertificate.renewAt(issued, yield* Random.next)
    yield* CertificateRows.finish(sql, place, lease, {
      chain,
      notBefore: DateTime.toDateUtc(DateTime.makeUnsafe(issued.notBefore)),
      notAfter: DateTime.toDateUtc(DateTime.makeUnsafe(issued.notAfter)),
      renewAt: DateTime.toDateUtc(DateTime.makeUnsafe(renewAt)),
      pauseSeconds: IssuedCertificate.pauseSeconds(issued)
    })
    yield* Effect.annotateLogs(Effect.logInfo("The certificate authority issued a certificate"), {
      ...about,
      not_after: DateTime.formatIso(DateTime.makeUnsafe(issued.notAfter))
    })
  })

  const failed = Effect.fnUntraced(function* (
    lease: string,
    { failures, isRenewal }: CertificateRows.Claimed,
    error: Parameters<typeof OrderFailure.explain>[0]
  ) {
    const pauseSeconds = yield* OrderFailure.pauseSeconds(error, failures + 1)
    const problem = OrderFailure.explain(error, host, challenge)
    // The same order would bring the same certificate again.
    const keepsOrder = !(error._tag === "Refused" && IssuedCertificate.isUnusable(error))
    const keepsAccount = !OrderFailure.isAboutAccount(error)
    yield* CertificateRows.fail(sql, place, lease, { problem, pauseSeconds, keepsOrder, keepsAccount })
    const now = yield* Clock.currentTimeMillis
    yield* Effect.logWarning(
      isRenewal
        ? "The certificate of the mail server was not renewed. The one in use stays"
        : "There is no certificate for the mail server yet. It uses a self-signed one",
      { ...about, problem, next_attempt_at: DateTime.formatIso(DateTime.makeUnsafe(now + pauseSeconds * 1_000)) }
    )
  })

  /** Ends once another process has the lease. */
  const extending = (lease: string) =>
    CertificateRows.extend(sql, place, lease).pipe(
      Effect.map((rows) => rows.length > 0),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("The lease of a certificate order was not extended", error), true)
      ),
      Effect.repeat({ schedule: Schedule.spaced(extendEvery), while: (isOurs) => isOurs }),
      Effect.andThen(Effect.logWarning("Another process has taken over a certificate order", about))
    )

  const attempt = (lease: string, claimed: CertificateRows.Claimed) =>
    issue(lease, claimed).pipe(
      Effect.timeoutOrElse({
        duration: longest,
        orElse: () => new Unreachable({ message: `The order took longer than ${longest}`, retryAfterSeconds: null })
      }),
      Effect.catchTags({
        NotProven: (error) => failed(lease, claimed, error),
        Refused: (error) => failed(lease, claimed, error),
        RateLimited: (error) => failed(lease, claimed, error),
        Unreachable: (error) => failed(lease, claimed, error)
      }),
      Effect.raceFirst(extending(lease)),
      // After an outcome nothing is leased.
      Effect.ensuring(
        BackgroundLoop.survive(
          "A lease of a certificate order was not released",
          CertificateRows.release(sql, place, lease)
        )
      )
    )

  yield* CertificateRows.insert(sql, place)
  return Effect.gen(function* () {
    const lease = yield* random.uuidV7()
    const claimed = yield* Bugs.die(claim(lease))
    if (Option.isSome(claimed)) yield* attempt(lease, claimed.value)
  }).pipe(Effect.withSpan("Certificates.order"))
})
