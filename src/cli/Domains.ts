import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, type Option, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import type { Domain } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"
import * as LocalSecret from "../settings/LocalSecret.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Service from "./Service.ts"

/** The operator's routes of the running service, so that this works beside an embedded database too. */
const client = (baseUrl: string) =>
  Effect.gen(function* () {
    const { adminToken, dataDirectory } = yield* Settings.secrets
    const token =
      adminToken ??
      (yield* LocalSecret.read(dataDirectory, "admin-token").pipe(
        Effect.mapError(
          () =>
            new CommandFailed({
              message: `ADMIN_TOKEN: Set it to the service's token, or DATA_DIR to its folder (${dataDirectory} has none)`
            })
        )
      ))
    const api = yield* HttpApiClient.make(Api, {
      baseUrl,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(token)))
    })
    return api.admin
  })

type Admin = Effect.Success<ReturnType<typeof client>>

/** Asks the service, and prints the domains of its answer. */
const ask = Effect.fnUntraced(function* <E extends { readonly _tag: string; readonly message: string }, R>(
  given: Option.Option<string>,
  question: (admin: Admin) => Effect.Effect<{ readonly domains: ReadonlyArray<Domain> }, E, R>
) {
  const baseUrl = yield* Service.baseUrl(given)
  const admin = yield* client(baseUrl)
  const { domains } = yield* Effect.mapError(question(admin), (error) => {
    switch (error._tag) {
      case "NotFound":
      case "Invalid":
        return new CommandFailed({
          message:
            error.message === "No such route"
              ? `${baseUrl} does not know this ADMIN_TOKEN, or has no operator's routes`
              : error.message
        })
      default:
        return Service.unanswered(baseUrl, error)
    }
  })
  if (domains.length === 0) return yield* Console.error("No domains yet")
  yield* Console.log(
    domains
      .map(({ disabled_reason, domain, origin, status }) =>
        [domain, origin, status, disabled_reason ?? ""].join("\t").trimEnd()
      )
      .join("\n")
  )
})

const name = Argument.String("domain")

const list = Command.make("list", { url: Service.url }, ({ url }) => ask(url, (admin) => admin.list())).pipe(
  Command.withDescription("List every domain, newest first")
)

const disable = Command.make("disable", { name, url: Service.url }, ({ name, url }) =>
  ask(url, (admin) => admin.disable({ params: { domain: name } }))
).pipe(Command.withDescription("Refuse mail for a domain and pause its deliveries"))

const enable = Command.make("enable", { name, url: Service.url }, ({ name, url }) =>
  ask(url, (admin) => admin.enable({ params: { domain: name } }))
).pipe(Command.withDescription("Undo disable"))

const remove = Command.make("remove", { name, url: Service.url }, ({ name, url }) =>
  ask(url, (admin) => admin.remove({ params: { domain: name } }))
).pipe(Command.withDescription("Take a domain from the workspace that holds it, with its mail"))

export const command = Command.make("domains").pipe(
  Command.withDescription("For the operator of the service"),
  Command.withSubcommands([list, disable, enable, remove]),
  Command.provide(NodeHttpClient.layerUndici)
)
