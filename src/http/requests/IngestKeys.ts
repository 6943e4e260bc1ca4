import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { Forbidden } from "../../model/ApiError.ts"

/** Whether ingest keys may call an endpoint. False by default. */
export const IngestKeys = Context.Reference<boolean>("inlet/http/IngestKeys", { defaultValue: () => false })

/** The security scheme of the OpenAPI document beside that of the workspace key. */
export const scheme = "ingestKey"

/** Annotates the endpoint that ingest keys are for. */
export const allowed = Context.make(IngestKeys, true).pipe(
  Context.merge(
    OpenApi.annotations({
      transform: (operation) => ({ ...operation, security: [...operation.security, { [scheme]: [] }] })
    })
  )
)

/** The refusal of every other route. */
export const refusal = new Forbidden({
  message:
    "An ingest key (ak_ingest_…) only calls POST /api/domains/{id}/ingest. Send the workspace's own key, `Authorization: Bearer ak_live_…`"
})
