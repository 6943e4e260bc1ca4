import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as ClientNetwork from "../model/ClientNetwork.ts"

/**
 * Who a request comes from, as limits count it. The address is the socket's, or
 * with `proxies` in front the one that many from the right of X-Forwarded-For:
 * what stands left of it is whatever the client wrote.
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
