import { Cache, Duration, Effect, Exit, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { inTrouble, inWords } from "../vendor/VendorAnswer.ts"
import { exchange, refused, safeToRepeat, unavailable, unclear, type VendorFailure } from "./RegistrarCall.ts"

export interface Credentials {
  readonly apiUrl: string
  readonly username: string
  readonly password: Redacted.Redacted
}

/** "Authentication/authorization failed": the password at a login, otherwise an old token. */
const authorizationFailed = "196"

/**
 * Codes of an unknown or pending outcome (199, 299, 399, 999: unknown error. 339, 340, 341, 502: the registry or the
 * vendor's database).
 */
const undecided: ReadonlySet<number> = new Set([199, 299, 339, 340, 341, 399, 502, 999])

/** Openprovider's REST API, v1beta (docs.openprovider.com): JSON in an envelope with `code` 0 for success. */
export const make = Effect.fnUntraced(function* ({ apiUrl, password, username }: Credentials) {
  const client = yield* HttpClient.HttpClient

  const send = Effect.fnUntraced(function* <A, I>(
    request: HttpClientRequest.HttpClientRequest,
    data: Schema.Codec<A, I>,
    secrets: ReadonlyArray<Redacted.Redacted>
  ) {
    const { body, status } = yield* exchange(
      client,
      request.pipe(HttpClientRequest.prependUrl(apiUrl), HttpClientRequest.acceptJson)
    )
    // Refusals may have status 500, so the envelope decides if there is one.
    const answer = yield* decodeEnvelope(body).pipe(
      Effect.mapError(() =>
        inTrouble(status)
          ? unavailable(`it answered with HTTP status ${status}`)
          : unclear(`its answer can't be understood (HTTP status ${status})`)
      )
    )
    if (answer.code !== 0) {
      const code = String(answer.code)
      const detail = typeof answer.data === "string" && answer.data !== "" ? `: ${answer.data}` : ""
      const message = inWords(`${answer.desc ?? ""}${detail} (${code})`, secrets)
      // The documented numbers have three digits, by module.
      const known = answer.code >= 100 && answer.code <= 999 && !undecided.has(answer.code)
      if (known && status !== 429) return yield* refused(message, code)
      return yield* inTrouble(status) ? unavailable(message, code) : unclear(message, code)
    }
    return yield* Schema.decodeUnknownEffect(data)(answer.data).pipe(
      Effect.mapError(() => unclear("its answer can't be understood"))
    )
  })

  /** One token for all calls, until the vendor rejects it. */
  const tokens = yield* Cache.makeWith(
    (username: string) =>
      HttpClientRequest.post("/auth/login").pipe(
        HttpClientRequest.bodyJsonUnsafe({ username, password: Redacted.value(password) }),
        (request) => send(request, Login, [password]),
        Effect.map(({ token }) => token),
        safeToRepeat
      ),
    // The vendor's token is valid for two days.
    { capacity: 1, timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.days(1) : Duration.zero) }
  )

  type Repeat = <A>(self: Effect.Effect<A, VendorFailure>) => Effect.Effect<A, VendorFailure>

  const call =
    (repeat: Repeat) =>
    <A, I>(request: HttpClientRequest.HttpClientRequest, data: Schema.Codec<A, I>) => {
      const sendWith = (token: Redacted.Redacted) =>
        repeat(send(HttpClientRequest.bearerToken(request, token), data, [password, token]))
      return Effect.gen(function* () {
        const token = yield* Cache.get(tokens, username)
        return yield* sendWith(token).pipe(
          // A call with an invalid token has no effect, so even a registration may be retried.
          Effect.catchIf(
            ({ code }) => code === authorizationFailed,
            () =>
              Cache.invalidateWhen(tokens, username, (present) => present === token).pipe(
                Effect.andThen(Cache.get(tokens, username)),
                Effect.flatMap(sendWith)
              )
          )
        )
      }).pipe(Effect.withSpan("OpenproviderApi.call"))
    }

  return { once: call((self) => self), repeatedly: call(safeToRepeat) }
})

const Envelope = Schema.Struct({
  code: Schema.Int,
  desc: Schema.optional(Schema.NullOr(Schema.String)),
  data: Schema.optional(Schema.Unknown)
})

const decodeEnvelope = Schema.decodeUnknownEffect(Schema.fromJsonString(Envelope))

const Login = Schema.Struct({ token: Schema.RedactedFromValue(Schema.NonEmptyString) })

/** A JSON body. */
export const post = (path: string, body: unknown) =>
  HttpClientRequest.post(path).pipe(HttpClientRequest.bodyJsonUnsafe(body))

export const put = (path: string, body: unknown) =>
  HttpClientRequest.put(path).pipe(HttpClientRequest.bodyJsonUnsafe(body))

export const get = (path: string, query: Readonly<Record<string, string>>) =>
  HttpClientRequest.get(path, { urlParams: query })
