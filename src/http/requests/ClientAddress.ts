import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as ClientNetwork from "../../model/ClientNetwork.ts"

/**
 * The client of a request for limits. The address is the socket's, or with `proxies` the one that many places from the
 * right of X-Forwarded-For. Anything left of it is the client's own claim.
 */
export const of = (
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  proxies: number
): string => {
  const hops = headers["x-forwarded-for"]?.split(",") ?? []
  const forwarded = proxies === 0 ? undefined : hops.at(-proxies)
  const named = forwarded === undefined ? Option.none() : ClientNetwork.of(forwarded.trim())
  return named.pipe(
    Option.orElse(() => Option.flatMap(remoteAddress, ClientNetwork.of)),
    Option.getOrElse(() => "unknown")
  )
}
