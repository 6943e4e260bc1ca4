import { createServer as createHttpServer } from "node:http"
import { createServer, type Socket } from "node:net"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { AllowedMethods } from "../../src/http/AllowedMethods.ts"
import { AnswerRoom } from "../../src/http/answers/AnswerRoom.ts"
import * as Edge from "../../src/http/Edge.ts"
import { DatabaseErrors } from "../../src/http/requests/DatabaseErrors.ts"
import { ValidationErrors } from "../../src/http/requests/ValidationErrors.ts"
import { SystemApi } from "../../src/http/system/SystemApi.ts"
import * as SystemHandlers from "../../src/http/system/SystemHandlers.ts"
import * as Platform from "../../src/process/Platform.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { call } from "../ApiCall.ts"
import * as Ports from "../Ports.ts"

class Url extends Context.Service<Url, string>()("inlet/test/http/Outage/Url") {}

/** Everything that was logged, in its written form. */
const logged: Array<string> = []
const remember = Logger.make((options) => {
  logged.push(Logger.formatJson.log(options), Logger.formatLogFmt.log(options))
})

const SystemAlone = HttpApi.make("inlet").add(SystemApi).middleware(ValidationErrors)

const handlers = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const asks = Effect.as(sql`SELECT 1`, HttpServerResponse.text("it answers"))
    yield* router.add("GET", "/asks", asks)
    yield* router.add("GET", "/writes", sql.withTransaction(asks))
    yield* router.add("GET", "/breaks", Effect.die(new Error("SELECT secret FROM /home/service/Bug.ts")))
  })
)

/** Routes that query a database at this port over a real socket. */
const served = (databasePort: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const port = yield* Ports.free
      const routes = Layer.mergeAll(HttpApiBuilder.layer(SystemAlone), handlers, Edge.layer).pipe(
        Layer.provide([SystemHandlers.layer, AllowedMethods.layer]),
        Layer.provide([ValidationErrors.layer, DatabaseErrors.layer, AnswerRoom.layer, RawStore.layerMemory]),
        Layer.provide(Database.layerPostgres(Redacted.make(`postgres://inlet:secret@127.0.0.1:${databasePort}/inlet`)))
      )
      return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(NodeHttpServer.layer(() => createHttpServer(), { host: "127.0.0.1", port })),
        Layer.merge(Layer.succeed(Url, `http://127.0.0.1:${port}`)),
        // Failures are logged, and this file causes them.
        Layer.provide(Logger.layer([remember])),
        Layer.provide(Platform.layer)
      )
    })
  )

const nobodyListens = Layer.unwrap(Effect.map(Ports.free, served))

/** A server with this handler for every connection. */
const listening = (greet: (socket: Socket) => void) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const port = yield* Ports.free
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket.on("error", () => {}))
        greet(socket)
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
        () =>
          Effect.callback<void>((resume) => {
            for (const socket of sockets) socket.destroy()
            server.close(() => resume(Effect.void))
          })
      )
      return served(port)
    })
  )

const get = Effect.fnUntraced(function* (path: string) {
  return yield* call(yield* Url, "GET", path)
})

const assertUnavailable = Effect.fnUntraced(function* (path: string) {
  const [time, { headers, json, status, text }] = yield* Effect.timed(get(path))
  assert.strictEqual(status, 503, path)
  assert.deepStrictEqual(Object.keys(json), ["error"])
  assert.match(json.error, /^The database /)
  assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)
  assert.isString(headers["x-request-id"])
  assert.notMatch(text, /SELECT|127\.0\.0\.1|secret|ECONN|\.ts/)
  assert.isBelow(Duration.toMillis(time), 8_000)
})

const options = { excludeTestServices: true } as const

describe("While the database", () => {
  layer(nobodyListens, options)("is down", (it) => {
    it.effect("requests that need it answer 503 with Retry-After", () =>
      Effect.gen(function* () {
        yield* assertUnavailable("/ready")
        yield* assertUnavailable("/asks")
        yield* assertUnavailable("/writes")
      })
    )

    it.effect("the liveness probe still passes", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* get("/health")).status, 200)
      })
    )

    it.effect("a bug still answers 500 with only a request id", () =>
      Effect.gen(function* () {
        const { headers, status, text } = yield* get("/breaks")
        assert.strictEqual(status, 500)
        assert.strictEqual(text, '{"error":"internal error"}')
        assert.isString(headers["x-request-id"])
      })
    )

    it.effect("the log names the failed request without credentials", () =>
      Effect.gen(function* () {
        const secrets = {
          authorization: "Bearer ak_live_sentinel",
          cookie: "inlet_demo=sentinel",
          "x-request-id": "mine"
        }
        for (const path of ["/asks", "/writes", "/breaks"]) {
          logged.length = 0
          yield* call(yield* Url, "POST", path, { headers: secrets })
          yield* call(yield* Url, "GET", path, { headers: secrets })
          assert.include(logged.join("\n"), "mine", path)
          assert.notInclude(logged.join("\n"), "sentinel", path)
        }
      })
    )
  })

  layer(
    listening((socket) => socket.destroy()),
    options
  )("drops connections", (it) => {
    it.effect("requests that need it answer 503 with Retry-After", () =>
      Effect.gen(function* () {
        yield* assertUnavailable("/ready")
        yield* assertUnavailable("/asks")
        yield* assertUnavailable("/writes")
      })
    )
  })

  layer(
    listening(() => {}),
    options
  )("hangs", (it) => {
    it.effect("requests that need it answer 503 within seconds", () =>
      Effect.all([assertUnavailable("/ready"), assertUnavailable("/asks")], { concurrency: "unbounded" })
    )
  })
})
