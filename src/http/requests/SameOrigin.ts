import { Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Forbidden } from "../../model/ApiError.ts"
import { WorkspaceId } from "../../model/Workspace.ts"

/** The header that the console sends with each request. Its value is the workspace of the page, or `1` before a sign-in. */
export const header = "x-inlet-console"

const safe = new Set(["GET", "HEAD"])

const hostOf = (url: string | undefined) => (url === undefined ? undefined : URL.parse(url)?.host)

const isWorkspaceId = Schema.is(WorkspaceId)

/**
 * True if the page of a request shows another workspace than that of its session, because another tab of the browser
 * has replaced the cookie.
 */
export const isOfOther = (
  { headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  workspaceId: WorkspaceId
): boolean => {
  const shown = headers[header]
  return isWorkspaceId(shown) && shown !== workspaceId
}

/**
 * Returns a refusal if a request with a console cookie may come from another site. Requests that only read pass, because
 * the cookie is SameSite=Strict. All others need the console's header, and an origin that is this service's.
 */
export const refusal = (
  { headers, method }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "method">,
  publicUrl: string
): Forbidden | undefined => {
  if (safe.has(method)) return undefined
  const { host, origin, "sec-fetch-site": site } = headers
  const isSame =
    site === undefined
      ? origin !== undefined && [host, hostOf(publicUrl)].includes(hostOf(origin))
      : site === "same-origin"
  return isSame && (headers[header] ?? "") !== ""
    ? undefined
    : new Forbidden({
        message: `The console's cookie only works from the console's own page. Programs send \`Authorization: Bearer <api_key>\``
      })
}
