import { Config, Effect, Option, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import { Api } from "../../http/api/Api.ts"
import * as ValidationErrors from "../../http/requests/ValidationErrors.ts"
import { type Domain, DomainId } from "../../model/Domain.ts"
import type { EventId } from "../../model/InboundEvent.ts"
import * as Settings from "../../Settings.ts"
import * as Answer from "./Answer.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { inCommands } from "./InCommands.ts"
import * as Profiles from "./Profiles.ts"

const url = Flag.String("url").pipe(
  Flag.withDescription("URL of the service. Default that of the profile, INLET_URL or SERVICE_PUBLIC_URL"),
  Flag.filter(
    (url) => /^https?:\/\//i.test(url) && URL.canParse(url),
    () => "a URL such as http://localhost:3000"
  ),
  Flag.optional
)

const key = Flag.Redacted("key").pipe(
  Flag.withDescription("API key of the workspace. Default that of the profile or INLET_API_KEY"),
  Flag.optional
)

const profile = Flag.String("profile").pipe(
  Flag.withDescription("Name of a profile from `inlet profiles save`, default INLET_PROFILE"),
  Flag.optional
)

/** The flags that name the service and the workspace. */
export const place = { url, key, profile }

/** The flags of operator commands, which find the token elsewhere. */
export const operatorFlags = { url, json: Answer.json }

/** The flags of workspace commands. */
export const flags = { ...place, json: Answer.json }

/** The flags of commands without a key. */
export const openFlags = { url, profile, json: Answer.json }

export interface Place {
  readonly url: Option.Option<string>
  readonly profile?: Option.Option<string>
  readonly key?: Option.Option<Redacted.Redacted>
}

const given = <A>(config: Config.Config<A>) => Effect.map(Config.option(config), Option.getOrUndefined)

/** URL and key of the service. A profile gives both, so a stored key goes only to its own service. */
const placeOf = Effect.fnUntraced(function* ({ key = Option.none(), profile = Option.none(), url }: Place) {
  const named = Option.getOrUndefined(profile) ?? (yield* given(Config.NonEmptyString("INLET_PROFILE")))
  const kept = named === undefined ? undefined : yield* Profiles.get(named)
  const environment = kept === undefined
  const isElsewhere = Option.exists(url, (url) => URL.parse(url)?.origin !== URL.parse(kept?.url ?? url)?.origin)
  return {
    profile: Option.isSome(key) || isElsewhere ? undefined : named,
    baseUrl:
      Option.getOrUndefined(url) ??
      kept?.url ??
      (environment ? yield* given(Config.NonEmptyString("INLET_URL")) : undefined) ??
      (yield* Settings.http).publicUrl,
    key:
      Option.getOrUndefined(key) ??
      (isElsewhere ? undefined : kept?.key) ??
      (environment ? yield* given(Config.Redacted("INLET_API_KEY")) : undefined)
  }
})

/** The name of the profile whose key is used, if it is one's. */
export const profileOfKey = (place: Place) => Effect.map(placeOf(place), ({ profile }) => profile)

export const baseUrl = (place: Place) => Effect.map(placeOf(place), ({ baseUrl }) => baseUrl)

/** The API of the service at this URL, with this key or token. */
export const connect = (baseUrl: string, token?: Redacted.Redacted) =>
  HttpApiClient.make(Api, {
    baseUrl,
    transformClient: HttpClient.mapRequest((request) =>
      token === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
    )
  })

export type Client = Effect.Success<ReturnType<typeof connect>>

/** The message of a failed request. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  readonly cause?: unknown
}

/** Whether a request may succeed later: rate limits, a restarting service, a lost connection, no answer in time. */
export const isTemporary = ({ _tag }: Failure) =>
  _tag === "TooManyRequests" || _tag === "Unavailable" || _tag === "HttpClientError" || _tag === "TimeoutError"

/** The URL and the required workspace key. */
export const opened = Effect.fnUntraced(function* (place: Place) {
  const { baseUrl, key } = yield* placeOf(place)
  if (key === undefined) {
    return yield* new CommandFailed({
      message:
        "--key: Expected the API key of a workspace (also INLET_API_KEY, or a profile). `inlet workspaces create NAME` gives one"
    })
  }
  return { baseUrl, key }
})

/** Calls the service as a workspace. A failure becomes one line of text. */
export const ask = Effect.fnUntraced(function* <A, E extends Failure, R>(
  place: Place,
  question: (api: Client) => Effect.Effect<A, E, R>
) {
  const { baseUrl, key } = yield* opened(place)
  return yield* answered(baseUrl, Effect.flatMap(connect(baseUrl, key), question))
})

/** Calls a route without a key. */
export const askOpenly = Effect.fnUntraced(function* <A, E extends Failure, R>(
  place: Place,
  question: (api: Client) => Effect.Effect<A, E, R>
) {
  const { baseUrl } = yield* placeOf(place)
  return yield* answered(baseUrl, Effect.flatMap(connect(baseUrl), question))
})

export const answered = <A, E extends Failure, R>(baseUrl: string, question: Effect.Effect<A, E, R>) =>
  Effect.catch(question, (error) =>
    Effect.flatMap(undeclared(error), (message) =>
      Effect.fail(message === undefined ? failure(baseUrl, error) : new CommandFailed({ message: inCommands(message) }))
    )
  )

const isError = Schema.is(Schema.Struct({ error: Schema.NonEmptyString }))

/** The message of an answer whose status the route does not declare, such as 503 while the service starts. */
const undeclared = Effect.fnUntraced(function* (error: Failure) {
  if (!HttpClientError.isHttpClientError(error) || error.response === undefined || error.response.status < 400) {
    return undefined
  }
  const body = yield* Effect.orElseSucceed(error.response.json, () => undefined)
  return isError(body) ? body.error : undefined
})

const failure = (baseUrl: string, error: Failure): CommandFailed => {
  if (error instanceof CommandFailed) return error
  // The request could not be written. An unreadable answer has another tag.
  if (Schema.isSchemaError(error)) return new CommandFailed({ message: ValidationErrors.describe(error.issue) })
  return said.has(error._tag) ? new CommandFailed({ message: inCommands(error.message) }) : unanswered(baseUrl, error)
}

/** The message of the service. */
const said = new Set([
  "Invalid",
  "Unauthorized",
  "Forbidden",
  "NotFound",
  "Conflict",
  "TooLarge",
  "Unprocessable",
  "TooManyRequests",
  "Unavailable",
  "BadGateway"
])

/** The failure of a command after an unexpected answer. */
const unanswered = (baseUrl: string, error: Failure) =>
  new CommandFailed({
    message: `${baseUrl} gave no valid answer (${ErrorOrigin.messageOf(error)}). Check that the service runs there, or set --url`
  })

/** Domains that a message names, at most. */
const mostNamed = 10

const named = (domains: ReadonlyArray<Domain>) =>
  `${domains
    .slice(0, mostNamed)
    .map(({ domain }) => domain)
    .join(", ")}${domains.length > mostNamed ? ", … (`inlet domains list` tells all)" : ""}`

const noDomain = new CommandFailed({ message: "This workspace has no domain yet: `inlet inboxes create` gives one" })

/** A domain of the workspace, by name or id. */
export const domain = Effect.fnUntraced(function* (api: Client, wanted: string) {
  const found = Schema.is(DomainId)(wanted.toLowerCase())
    ? api.domains.get({ params: { id: DomainId.make(wanted.toLowerCase()) } }).pipe(Effect.map((domain) => [domain]))
    : Effect.map(api.domains.list({ query: { domain: wanted } }), ({ domains }) => domains)
  // Another form of a name is none of them.
  const [first] = yield* Effect.catchTag(found, ["NotFound", "Invalid"], () => Effect.succeed([]))
  if (first !== undefined) return first
  const { domains } = yield* api.domains.list({ query: { limit: mostNamed + 1 } })
  if (domains.length === 0) return yield* noDomain
  return yield* new CommandFailed({ message: `No domain ${wanted} in this workspace. It has ${named(domains)}` })
})

/** The only domain of the workspace, or the only one that takes mail, if none is named. */
export const domainOrOnly = Effect.fnUntraced(function* (api: Client, wanted: string | undefined) {
  if (wanted !== undefined) return yield* domain(api, wanted)
  const { domains } = yield* api.domains.list({ query: { limit: mostNamed + 1 } })
  const [newest, ...others] = domains
  if (newest === undefined) return yield* noDomain
  if (others.length === 0) return newest
  const {
    domains: [only, ...more]
  } = yield* api.domains.list({ query: { takes_mail: "true", limit: 2 } })
  if (only === undefined || more.length > 0) {
    return yield* new CommandFailed({ message: `--domain: Expected one of ${named(domains)}` })
  }
  return only
})

/** The domain of the workspace that has the event. */
export const domainOfEvent = (api: Client, eventId: EventId) =>
  Effect.map(api.events.find({ params: { eventId } }), ({ domain, domain_id }) => ({ id: domain_id, domain }))
