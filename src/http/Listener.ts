import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import * as Shutdown from "../process/Shutdown.ts"
import * as Connections from "./Connections.ts"
import * as MalformedRequests from "./MalformedRequests.ts"

/** Timeouts of a client in milliseconds. Beyond them it gets 408, and Inlet closes the connection. */
export const Timeouts = Context.Reference("inlet/http/Listener/Timeouts", {
  defaultValue: () => ({
    /** For the header of a request, from the start of the connection or the previous request. */
    headersTimeout: 20_000,
    /** For the whole request. */
    requestTimeout: 60_000,
    /** Interval of checking for late clients. */
    connectionsCheckingInterval: 2_000
  })
})

/** Listens for HTTP, with bounds on connections and time. */
export const layer = (address: { readonly host: string; readonly port: number }) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const timeouts = yield* Timeouts
      const bounded = yield* Connections.make
      const makeServer = () => {
        // Edge answers a request without Host, in the form of every error.
        const server = MalformedRequests.answered(bounded(createServer({ ...timeouts, requireHostHeader: false })))
        const others = server.listenerCount("request")
        // The port opens before the routes are registered. An earlier request would never be answered.
        return server.on("request", (_request, response) => {
          if (server.listenerCount("request") > others + 1) return
          response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
          response.end(JSON.stringify({ error: "The service is starting. Retry in 1 s" }))
        })
      }
      return NodeHttpServer.layer(makeServer, { ...address, gracefulShutdownTimeout: Shutdown.grace })
    })
  )
