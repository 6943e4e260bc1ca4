import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Domains } from "../../domains/Domains.ts"
import { Replays } from "../../events/Replays.ts"
import type { DomainId } from "../../model/Domain.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import { ReplaysApi } from "./ReplaysApi.ts"

const jobsOnAPage = 50

export const layer = HttpApiBuilder.group(
  GroupApi.of(ReplaysApi),
  "replays",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const replays = yield* Replays
    const limits = yield* WorkspaceLimits

    /** The domain, if it is in this workspace. */
    const owned = (id: DomainId) =>
      CurrentWorkspace.use(({ id: workspaceId }) =>
        Effect.map(domains.get({ workspaceId, id }), ({ domain }) => ({ domain, workspaceId }))
      )

    return handlers.handleAll({
      start: Effect.fnUntraced(function* ({ params, payload }) {
        const { domain, workspaceId } = yield* owned(params.id)
        const { dry_run = false, recipient = null, since = null, status, until = null, webhook_id = null } = payload
        yield* TimeQuery.requireOrder(payload)
        yield* AddressQuery.requireAt(domain, recipient)
        const selection = { domainId: params.id, status, since, until, recipient }
        yield* limits.spend("replay", workspaceId)
        if (dry_run) return { total: yield* replays.count(selection) }
        yield* limits.spend("replay job", workspaceId)
        return yield* replays.start({ ...selection, webhookId: webhook_id })
      }),
      list: Effect.fnUntraced(function* ({ params, query }) {
        yield* owned(params.id)
        const { cursor, limit = jobsOnAPage } = query
        const { items, nextCursor } = yield* replays.list(params.id, { limit, cursor })
        return { replays: items, next_cursor: nextCursor }
      }),
      get: ({ params }) => Effect.andThen(owned(params.id), replays.get(params.id, params.replayId)),
      stop: ({ params }) => Effect.andThen(owned(params.id), replays.stop(params.id, params.replayId))
    })
  })
)
