import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OperationalEvents } from "../../operations/OperationalEvents.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LedgerPage from "../requests/LedgerPage.ts"
import { OperationsApi } from "./OperationsApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(OperationsApi),
  "operations",
  Effect.fn(function* (handlers) {
    const events = yield* OperationalEvents

    return handlers.handleAll({
      list: ({ query: { limit = LedgerPage.limitByDefault, ...page } }) =>
        CurrentWorkspace.use(({ id }) => events.list(id, { ...page, limit })).pipe(Effect.map(LedgerPage.of))
    })
  })
)
