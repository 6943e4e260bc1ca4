import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Invalid } from "../../model/ApiError.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import * as TraceQuery from "./TraceQuery.ts"

export class TraceApi extends HttpApiGroup.make("trace")
  .add(
    HttpApiEndpoint.get("search", "/api/trace", {
      query: TraceQuery.query,
      success: TraceQuery.page,
      error: Invalid.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Find out what became of mail, newest first",
          description: TraceQuery.description
        })
      )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Trace", description: "What became of a mail, also of one that was refused" })
  ) {}
