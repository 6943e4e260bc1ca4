import type { Authorization, Order as PlacedOrder } from "acme-client"
import { Duration, Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import type { AcmeProblem, Answered } from "./AcmeRequests.ts"
import {
  CertificateAuthority,
  type Order,
  type OrderError,
  RateLimited,
  Refused,
  Unreachable
} from "./CertificateAuthority.ts"

/** `ACME_CA_FILE` can't be used. */
export class RootsUnusable extends Schema.TaggedError<RootsUnusable>()("RootsUnusable", { message: Schema.String }) {}

export interface Options {
  /** The URL of the directory. */
  readonly directory: string
  /** Of the account. */
  readonly email: string | undefined
  readonly challenge: "http" | "dns"
  /** A PEM file with roots to trust beside those of Node. */
  readonly caFile: string | undefined
  /** Interval of looking whether the authority is done, 2 s by default. */
  readonly interval?: Duration.Input
  /** The longest interval that its `Retry-After` may ask for, 30 s by default. */
  readonly mostInterval?: Duration.Input
  /** The longest wait for each of its two steps, 5 minutes by default. */
  readonly patience?: Duration.Input
}

/** Loaded with the first order, because nothing else needs the library's modules. */
const library = Effect.all({
  acme: Effect.promise(() => import("acme-client")),
  requests: Effect.promise(() => import("./AcmeRequests.ts"))
})

/** Orders certificates by ACME (RFC 8555). */
export const layer = (options: Options) =>
  Layer.effect(
    CertificateAuthority,
    Effect.gen(function* () {
      const { challenge, directory, email, interval = "2 seconds", patience = "5 minutes" } = options
      const mostInterval = options.mostInterval ?? "30 seconds"
      const roots = options.caFile === undefined ? undefined : yield* readRoots(options.caFile)
      const place = new URL(directory).host

      const issue = Effect.fnUntraced(function* (order: Order) {
        const { acme, requests } = yield* library
        requests.trust(roots)
        const client = new acme.Client({ directoryUrl: directory, accountKey: Redacted.value(order.accountKey) })

        const ask = <A>(work: () => Promise<A>, step: "account" | "order" = "order") =>
          Effect.tryPromise({
            try: (signal) => requests.within(signal, work),
            catch: (cause): OrderError =>
              cause instanceof requests.AcmeProblem
                ? errorOf(place, cause, step)
                : new Unreachable({ message: `${place} gave an answer that is not ACME`, retryAfterSeconds: null })
          })
        const call = <A>(work: () => Promise<A>, step: "account" | "order" = "order"): Effect.Effect<A, OrderError> =>
          Effect.map(ask(work, step), ({ value }) => value)

        /** The authority's reason on an invalid order or challenge. */
        const refusal = (error: unknown) =>
          new Refused({
            type: requests.typeOf(error),
            message: `${place} refused the order: ${requests.detailOf(error) || "without a reason"}`
          })

        /**
         * Polls until the state is final, at the interval in `Retry-After` (RFC 8555, section 7.5.1), at most 30 s. An
         * authority may ask for a day and finish in seconds, and the proof must stay published until then.
         */
        const settled = <A>(look: Effect.Effect<Answered<A>, OrderError>, isFinal: (answer: A) => boolean) =>
          Effect.gen(function* () {
            for (;;) {
              const { retryAfterSeconds, value } = yield* look
              if (isFinal(value)) return value
              const asked = Duration.min(
                Duration.seconds(retryAfterSeconds ?? 0),
                Duration.fromInputUnsafe(mostInterval)
              )
              yield* Effect.sleep(Duration.max(asked, Duration.fromInputUnsafe(interval)))
            }
          }).pipe(
            Effect.timeoutOrElse({
              duration: patience,
              orElse: () => Effect.fail(new Unreachable({ message: `${place} took too long`, retryAfterSeconds: null }))
            })
          )

        const look = (placed: PlacedOrder) => ask(() => client.getOrder(placed))

        const earlier = Effect.fnUntraced(
          function* (url: string) {
            // The library only reads the URL.
            const { value: found } = yield* look({ url } as PlacedOrder)
            return found.status === "invalid" ? undefined : found
          },
          Effect.catchTag("Refused", () => Effect.succeed(undefined))
        )

        const currentOrder = Effect.gen(function* () {
          const found = order.earlier === null ? undefined : yield* earlier(order.earlier)
          if (found !== undefined) return found
          const placed = yield* call(() => client.createOrder({ identifiers: [{ type: "dns", value: order.host }] }))
          yield* order.begun(placed.url)
          return placed
        })

        const prove = Effect.fnUntraced(function* (placed: PlacedOrder, authorization: Authorization) {
          const offered = authorization.challenges.find(({ type }) => type === `${challenge}-01`)
          if (offered === undefined) {
            return yield* new Refused({
              type: "unsupportedChallenge",
              message: `${place} offers no challenge of the type ${challenge}-01. Change ACME_CHALLENGE`
            })
          }
          const answer = yield* call(() => client.getChallengeKeyAuthorization(offered))
          yield* order.prove({ host: authorization.identifier.value, token: offered.token, answer })
          yield* call(() => client.completeChallenge(offered))
          const looked = ask(() => client.getAuthorizations(placed)).pipe(
            Effect.map(({ value: all, ...answer }) => ({
              ...answer,
              value: all.find(({ url }) => url === authorization.url) ?? authorization
            }))
          )
          const decided = yield* settled(looked, ({ status }) => status !== "pending")
          if (decided.status !== "valid") {
            return yield* refusal(decided.challenges.find(({ error }) => error !== undefined)?.error)
          }
        }, Effect.scoped)

        const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
        yield* call(() => client.createAccount({ termsOfServiceAgreed: true, ...contact }), "account")
        const placed = yield* currentOrder
        if (placed.status === "pending") {
          for (const authorization of yield* call(() => client.getAuthorizations(placed))) {
            if (authorization.status !== "valid") yield* prove(placed, authorization)
          }
        }
        const ready = yield* settled(look(placed), ({ status }) => status !== "pending")
        if (ready.status === "ready") {
          const key = Buffer.from(Redacted.value(order.key))
          const [, request] = yield* call(() => acme.crypto.createCsr({ altNames: [order.host] }, key))
          yield* call(() => client.finalizeOrder(ready, request))
        }
        const done = yield* settled(look(placed), ({ status }) => status !== "processing" && status !== "ready")
        if (done.status !== "valid") return yield* refusal(done.error)
        return yield* call(() => client.getCertificate(done))
      })

      return CertificateAuthority.of({ issue: Effect.fn("AcmeAuthority.issue")(issue) })
    })
  )

const readRoots = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs
    .readFileString(file)
    .pipe(
      Effect.mapError(
        ({ reason }) => new RootsUnusable({ message: `ACME_CA_FILE: ${file} can't be read (${reason._tag})` })
      )
    )
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text
  return yield* new RootsUnusable({ message: `ACME_CA_FILE: ${file} has no PEM certificate` })
})

const errorOf = (
  place: string,
  { detail, retryAfterSeconds, status, type }: AcmeProblem,
  step: "account" | "order"
): OrderError => {
  const says = `${place} says: ${detail || `HTTP status ${status}`}`
  if (status === null) return new Unreachable({ message: `${place} does not answer (${detail})`, retryAfterSeconds })
  if (status === 429 || type === "rateLimited") return new RateLimited({ message: says, retryAfterSeconds })
  // A redirect is not ACME either.
  if (status >= 500 || status < 400) return new Unreachable({ message: says, retryAfterSeconds })
  return new Refused({ type, step, message: says })
}
