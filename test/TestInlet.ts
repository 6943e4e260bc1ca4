import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, FileSystem, Layer } from "effect"
import * as Inlet from "../src/Inlet.ts"
import * as Platform from "../src/Platform.ts"
import * as Providers from "../src/providers/Providers.ts"
import * as Telemetry from "../src/Telemetry.ts"
import { type Answer, type CallOptions, call } from "./ApiCall.ts"
import * as Ports from "./Ports.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** The whole service in this process, on loopback ports and a database of its own. */
export class TestInlet extends Context.Service<
  TestInlet,
  {
    readonly url: string
    readonly smtpPort: number
    /** DATA_DIR of this service. */
    readonly folder: string
    call(method: Parameters<typeof call>[1], path: string, options?: CallOptions): Effect.Effect<Answer>
    /** A new workspace. */
    readonly workspace: Effect.Effect<{ readonly id: string; readonly key: string; readonly secret: string }>
    /** A new workspace with an instant inbox, and a webhook if one is given. */
    inbox(webhookUrl?: string): Effect.Effect<{
      readonly key: string
      readonly secret: string
      readonly domainId: string
      readonly domain: string
      readonly address: string
    }>
  }
>()("inlet/test/TestInlet") {
  /** `settings` are added to, and win over, those of a test. Ports are free ones, the folder is temporary. */
  static readonly layer = (settings: Readonly<Record<string, string>> = {}) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
        const env: Record<string, string> = {
          HTTP_PORT: `${yield* Ports.free}`,
          SMTP_PORT: `${yield* Ports.free}`,
          DATA_DIR: folder,
          LOG_LEVEL: "error",
          // Nobody answers there: no question of a test leaves this machine.
          DNS_SERVERS: "127.0.0.1:9",
          ...settings
        }
        const url = `http://127.0.0.1:${env.HTTP_PORT}`
        const at = (method: Parameters<typeof call>[1], path: string, options?: CallOptions) =>
          call(url, method, path, options)

        const workspace = Effect.map(at("POST", "/api/workspaces", { body: { name: "test" } }), ({ json }) => ({
          id: json.workspace_id as string,
          key: json.api_key as string,
          secret: json.webhook_signing_secret as string
        }))

        const inbox = Effect.fnUntraced(function* (webhookUrl?: string) {
          const { key, secret } = yield* workspace
          const { json } = yield* at("POST", "/api/instant-inbox", { key })
          if (webhookUrl !== undefined) {
            yield* at("PATCH", `/api/domains/${json.domain_id}/delivery`, { key, body: { webhookUrl } })
          }
          return {
            key,
            secret,
            domainId: json.domain_id as string,
            domain: json.domain as string,
            address: json.address as string
          }
        })

        const service = TestInlet.of({
          url,
          smtpPort: Number(env.SMTP_PORT),
          folder,
          call: at,
          workspace,
          inbox
        })
        return Layer.succeed(TestInlet, service).pipe(
          Layer.provideMerge(Inlet.layer),
          Layer.provide(Providers.layer),
          Layer.provideMerge(TestDatabase.layer),
          Layer.provide(Platform.layer),
          Layer.provide(Telemetry.layer),
          // What names the test's own database is read from the real environment.
          Layer.provide(ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env }), { asPrimary: true }))
        )
      })
    ).pipe(Layer.provide(NodeServices.layer))
}
