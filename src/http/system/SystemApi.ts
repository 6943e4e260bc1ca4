import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Unavailable } from "../../model/ApiError.ts"

const Ok = Schema.Struct({ status: Schema.Literal("ok") })

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: Ok }).annotateMerge(
      OpenApi.annotations({ summary: "Check that the process responds" })
    ),
    HttpApiEndpoint.get("ready", "/ready", { success: Ok, error: Unavailable.http }).annotateMerge(
      OpenApi.annotations({
        summary:
          "Check that the process can store mail. 503 while the database does not answer, is a standby, or writes fail"
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "For load balancers and monitoring" })) {}
