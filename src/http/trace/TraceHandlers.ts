import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Traces } from "../../trace/Traces.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { LimitedCursors } from "../requests/LimitedCursors.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import { TraceApi } from "./TraceApi.ts"
import * as TraceQuery from "./TraceQuery.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(TraceApi),
  "trace",
  Effect.fn(function* (handlers) {
    const traces = yield* Traces
    const cursors = yield* LimitedCursors

    return handlers.handleAll({
      search: Effect.fnUntraced(function* ({ query }) {
        const holder = yield* CurrentWorkspace
        const { id, limit } = holder
        yield* TimeQuery.requireOrder(query)
        const { asked, page } = TraceQuery.toSearch(query)
        const cursor = yield* cursors.open(holder, page.cursor)
        const { entries, hint, nextCursor } = yield* traces.search({ workspaceId: id, limit }, asked, {
          ...page,
          cursor
        })
        return { entries, next_cursor: yield* cursors.seal(holder, nextCursor), hint }
      })
    })
  })
)
