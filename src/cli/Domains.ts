import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import * as LocalSecret from "../LocalSecret.ts"
import type { Domain } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"

/** There is no token to ask the service with. */
export class NoAdminToken extends Schema.TaggedError<NoAdminToken>()("NoAdminToken", { message: Schema.String }) {}

const url = Flag.String("url").pipe(
  Flag.withDescription("URL of the running service; SERVICE_PUBLIC_URL when absent"),
  Flag.optional
)

/** The operator's routes of the running service, so that this works beside an embedded database too. */
const client = Effect.fnUntraced(function* (given: Option.Option<string>) {
  const { publicUrl } = yield* Settings.http
  const { adminToken, dataDirectory } = yield* Settings.secrets
  const token =
    adminToken ??
    (yield* LocalSecret.read(dataDirectory, "admin-token").pipe(
      Effect.mapError(
        () =>
          new NoAdminToken({
            message: `Set ADMIN_TOKEN to the service's token, or DATA_DIR to its folder (${dataDirectory} has none)`
          })
      )
    ))
  const api = yield* HttpApiClient.make(Api, {
    baseUrl: Option.getOrElse(given, () => publicUrl),
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(token)))
  })
  return api.admin
})

const print = ({ domains }: { readonly domains: ReadonlyArray<Domain> }) =>
  Console.log(
    domains
      .map(({ disabled_reason, domain, origin, status }) =>
        [domain, origin, status, disabled_reason ?? ""].join("\t").trimEnd()
      )
      .join("\n")
  )

const name = Argument.String("domain")

const list = Command.make("list", { url }, ({ url }) =>
  Effect.flatMap(client(url), (admin) => Effect.flatMap(admin.list(), print))
).pipe(Command.withDescription("List every domain, newest first"))

const disable = Command.make("disable", { name, url }, ({ name, url }) =>
  Effect.flatMap(client(url), (admin) => Effect.flatMap(admin.disable({ params: { domain: name } }), print))
).pipe(Command.withDescription("Refuse mail for a domain and pause its deliveries"))

const enable = Command.make("enable", { name, url }, ({ name, url }) =>
  Effect.flatMap(client(url), (admin) => Effect.flatMap(admin.enable({ params: { domain: name } }), print))
).pipe(Command.withDescription("Undo disable"))

export const command = Command.make("domains").pipe(
  Command.withDescription("For the operator of the service"),
  Command.withSubcommands([list, disable, enable]),
  Command.provide(NodeHttpClient.layerUndici)
)
