import { Context } from "effect"
import { Forbidden } from "../../model/ApiError.ts"

/** Whether ingest keys may call an endpoint. False by default. */
export const IngestKeys = Context.Reference<boolean>("inlet/http/IngestKeys", { defaultValue: () => false })

/** Annotates the endpoint that ingest keys are for. */
export const allowed = Context.make(IngestKeys, true)

/** The refusal of every other route. */
export const refusal = new Forbidden({
  message:
    "An ingest key (ak_ingest_…) only calls POST /api/domains/{id}/ingest. Send the workspace's own key, `Authorization: Bearer ak_live_…`"
})
