import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { HttpClient } from "effect/http"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

layer(Layer.merge(NodeServices.layer, NodeHttpClient.layerNodeHttp), {
  excludeTestServices: true
})("A process without the role http", (it) => {
  it.effect("serves its metrics and its state at METRICS_PORT, and nothing else", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const port = yield* Ports.free
      const settings = {
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-monitor-" }),
        HTTP_PORT: `${yield* Ports.free}`,
        METRICS_PORT: `${port}`,
        ROLES: "worker"
      }
      const worker = yield* Program.start(process.execPath, [yield* InletProcess.script], { env: settings })
      yield* worker.says("The worker runs")
      yield* eventually(Ports.isAnswered(port), (isAnswered) => isAnswered)
      const get = (path: string) =>
        HttpClient.get(`http://127.0.0.1:${port}${path}`).pipe(
          Effect.flatMap(({ status, text }) => Effect.map(text, (body) => ({ status, text: body })))
        )
      yield* eventually(get("/metrics"), ({ text }) => text.includes("inlet_queue_oldest_seconds"))
      assert.deepStrictEqual(yield* get("/ready"), { status: 200, text: '{"status":"ok"}' })
      assert.deepStrictEqual(yield* get("/health"), { status: 200, text: '{"status":"ok"}' })
      assert.strictEqual((yield* get("/api/domains")).status, 404)
      assert.isFalse(yield* Ports.isAnswered(Number(settings.HTTP_PORT)))

      const other = { ...settings, DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-monitor-" }) }
      const second = yield* Program.start(process.execPath, [yield* InletProcess.script], { env: other })
      assert.strictEqual(yield* second.exitCode, 1)
      assert.include(yield* second.stderr, `Inlet can't start: METRICS_PORT: 127.0.0.1:${port} is in use`)
    }).pipe(Effect.scoped)
  )
})
