import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { call } from "../test/ApiCall.ts"
import * as Ports from "../test/Ports.ts"
import * as Program from "../test/Program.ts"
import type { Carrier, Outcome } from "./Sender.ts"

/** The bridge for Cloudflare in workerd, as a process that is killed and restarted on the same port. */
export interface Bridge {
  readonly start: Effect.Effect<void>
  /** Sends kill -9. */
  readonly kill: Effect.Effect<void>
  /** A mail server of Cloudflare, which hands its mail to the bridge. */
  readonly carrier: Carrier
}

/** Writes the Worker with the command line. `key` is that of the workspace. */
export const make = Effect.fn("Bridge.make")(
  function* (options: {
    readonly url: string
    readonly domain: string
    readonly key: string
    readonly to: string
    /** A folder that does not exist yet. */
    readonly folder: string
  }) {
    const { domain, folder, key, to, url } = options
    const parent = yield* Effect.scope
    const port = yield* Ports.free
    const command = [
      "src/cli/main.ts",
      "bridge",
      "cloudflare",
      "--domain",
      domain,
      "--folder",
      folder,
      "--public-url",
      url
    ]
    const written = yield* Program.run(process.execPath, command, { env: { INLET_URL: url, INLET_API_KEY: key } })
    if (written.code !== 0) return yield* Effect.die(new Error(written.stderr))
    const { json } = yield* call(url, "POST", "/api/workspaces/keys", { key, body: { scope: "ingest" } })
    let life: Scope.Closeable | undefined
    let end: Effect.Effect<unknown> = Effect.void

    const kill = Effect.suspend(() =>
      life === undefined ? Effect.void : Effect.andThen(end, Scope.close(life, Exit.void))
    )
    const start = Effect.gen(function* () {
      yield* kill
      life = yield* Scope.fork(parent)
      const args = [fileURLToPath(new URL("BridgeProcess.ts", import.meta.url)), folder, `${port}`, `${json.api_key}`]
      const program = yield* Scope.provide(Program.start(process.execPath, args), life)
      // workerd is a child, which would keep the port.
      const children = Program.run("pkill", ["-9", "-P", `${program.pid}`])
      end = Effect.andThen(children, program.kill("SIGKILL")).pipe(
        Effect.sandbox,
        Effect.ignore,
        Effect.provide(NodeServices.layer)
      )
      yield* program.says("ready")
    })

    const query = new URLSearchParams({ from: "sender@sender.example", to, format: "json" })
    const hand = (message: string) =>
      call(`http://127.0.0.1:${port}`, "POST", `/cdn-cgi/handler/email?${query}`, {
        body: `${message}\r\n`,
        headers: { "content-type": "message/rfc822" }
      }).pipe(
        Effect.map(({ json }): Outcome => {
          if (json?.outcome !== "ok") return "postponed"
          return json.rejectReason === undefined || json.rejectReason === null
            ? "accepted"
            : { bounced: json.rejectReason }
        }),
        // The bridge was killed.
        Effect.sandbox,
        Effect.orElseSucceed((): Outcome => "unanswered")
      )
    const carrier: Carrier = Effect.fnUntraced(function* ({ next, pause, tell }) {
      const mail = next()
      if (mail === undefined) return true
      const outcome = yield* hand(mail.message)
      yield* tell(mail, outcome)
      yield* pause
      return outcome === "accepted"
    })
    const bridge: Bridge = {
      carrier,
      kill: Effect.provide(kill, NodeServices.layer),
      start: start.pipe(Effect.provide(NodeServices.layer), Effect.orDie)
    }
    return bridge
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
