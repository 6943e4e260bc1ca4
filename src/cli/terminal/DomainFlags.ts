import { Option } from "effect"
import { Flag } from "effect/cli"
import { cursor, limit } from "./EventFlags.ts"

/** The flags of lists of domains. */
export const flags = {
  search: Flag.String("search").pipe(Flag.withDescription("Only domains with this in their name"), Flag.optional),
  limit,
  cursor
}

/** What an empty list says. */
export const noneFor = (search: Option.Option<string>) =>
  Option.isNone(search) ? "No domains yet" : `No domain has ${search.value} in its name`
