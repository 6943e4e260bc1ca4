import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { DatabaseErrors } from "./DatabaseErrors.ts"
import { ValidationErrors } from "./ValidationErrors.ts"

/** An ignored misspelled field would make a wider key, or replay more mail. */
export const bodies = { onExcessProperty: "error" } as const

/** Wraps one group in an API with the id of the whole one, so that its handlers do not import the other groups. */
export const of = <Group extends HttpApiGroup.Constraint>(group: Group) =>
  HttpApi.make("inlet")
    .add(group)
    .middleware(ValidationErrors)
    .middleware(DatabaseErrors)
    .annotate(HttpApi.PayloadParseOptions, bodies)
