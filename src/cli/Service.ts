import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import * as Settings from "../Settings.ts"
import { CommandFailed } from "./CommandFailed.ts"

/** The flag of every command that asks the running service. */
export const url = Flag.String("url").pipe(
  Flag.withDescription("URL of the running service; SERVICE_PUBLIC_URL when absent"),
  Flag.filter(
    (url) => URL.canParse(url),
    () => "a URL such as http://localhost:3000"
  ),
  Flag.optional
)

export const baseUrl = (given: Option.Option<string>) =>
  Option.isSome(given) ? Effect.succeed(given.value) : Effect.map(Settings.http, ({ publicUrl }) => publicUrl)

/** The failure of a command whose question had no answer that it knows. */
export const unanswered = (baseUrl: string, error: { readonly message: string; readonly cause?: unknown }) =>
  new CommandFailed({
    message: `${baseUrl} did not answer as expected (${innermost(error)}). Is the service running there? --url names another place`
  })

const innermost = (error: { readonly message: string; readonly cause?: unknown }): string =>
  error.cause instanceof Error ? innermost(error.cause) : error.message
