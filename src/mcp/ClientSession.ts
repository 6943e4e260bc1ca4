import { Context } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { WorkspaceId } from "../model/Workspace.ts"
import type * as GivenCodes from "../workspaces/GivenCodes.ts"

/** The header of `inlet mcp`, whose process is one session also in a protocol without sessions. */
export const header = "inlet-session"

const form = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The session of the client whose request is served, or null without one. */
export const ClientSession = Context.Reference<GivenCodes.Session | null>("inlet/mcp/ClientSession", {
  defaultValue: () => null
})

/** The session that a request names. */
export const of = (workspaceId: WorkspaceId, { headers }: HttpServerRequest.HttpServerRequest) => {
  const own = headers[header]
  const id = headers["mcp-session-id"] ?? (own !== undefined && form.test(own) ? own : undefined)
  return id === undefined ? null : { workspaceId, id }
}
