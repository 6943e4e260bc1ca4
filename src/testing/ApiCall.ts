import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body as untyped JSON, whose form tests assert. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  readonly json: any
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE" | "PUT" | "HEAD" | "OPTIONS"

export interface CallOptions {
  readonly key?: string | undefined
  /** Sent as JSON, or unchanged if text. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A connection for each request. The service resets a request on an idle connection that it is closing, which happens
 * at any timeout if the process was busy meanwhile.
 */
const client = NodeHttpClient.layerUndiciOptions({ pipelining: 0 })

/** Calls an HTTP API over a real socket. Never fails for a status. */
export const call = Effect.fnUntraced(
  function* (base: string, method: Method, path: string, { body, headers = {}, key }: CallOptions = {}) {
    const http = yield* HttpClient.HttpClient
    const request = HttpClientRequest.make(method)(`${base}${path}`).pipe(
      HttpClientRequest.setHeaders({ ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers }),
      body === undefined
        ? (same) => same
        : HttpClientRequest.bodyText(
            typeof body === "string" ? body : JSON.stringify(body),
            headers["content-type"] ?? "application/json"
          )
    )
    const response = yield* http.execute(request)
    const text = yield* response.text
    const decoded = Schema.decodeOption(Schema.fromJsonString(Schema.Unknown))(text)
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text,
      json: decoded._tag === "Some" ? decoded.value : undefined
    }
    return answer
  },
  // Shared with the service in this process, its client would be this one, with idle connections.
  Effect.provide(client, { local: true }),
  Effect.orDie
)
