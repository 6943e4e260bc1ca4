import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Traces } from "../../trace/Traces.ts"
import { CurrentWorkspace } from "../requests/Authorization.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { TraceApi } from "./TraceApi.ts"
import * as TraceQuery from "./TraceQuery.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(TraceApi),
  "trace",
  Effect.fn(function* (handlers) {
    const traces = yield* Traces

    return handlers.handleAll({
      search: Effect.fnUntraced(function* ({ query }) {
        const { id } = yield* CurrentWorkspace
        const { asked, page } = TraceQuery.toSearch(query)
        const { entries, hint, nextCursor } = yield* traces.search({ workspaceId: id }, asked, page)
        return { entries, next_cursor: nextCursor, hint }
      })
    })
  })
)
