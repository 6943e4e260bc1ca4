import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Service from "../terminal/Service.ts"

/** The worker, which is plain JavaScript so that it needs no build. */
const worker = new URL("../bridge/cloudflare.js", import.meta.url)

/** A date of the Workers runtime whose behavior the worker was tested with. */
const compatibilityDate = "2026-07-01"

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

/**
 * The URL at which Cloudflare reaches the service. The worker sends its key there. A named URL may be one of this
 * machine, where `wrangler dev` runs the worker.
 */
const reachable = Effect.fnUntraced(function* (named: Option.Option<string>, usual: string) {
  const text = Option.getOrElse(named, () => usual)
  const url = URL.parse(text)
  const isLocal = url !== null && loopback.has(url.hostname)
  if (isLocal ? Option.isSome(named) : url?.protocol === "https:") return text.replace(/\/+$/, "")
  return yield* new CommandFailed({
    message: `--public-url: ${text} ${isLocal ? "is a URL of this machine" : "is no https URL"}. The worker sends its key there, so name the https URL at which Cloudflare reaches the service`
  })
})

const cloudflare = Command.make(
  "cloudflare",
  {
    domain: Flag.String("domain").pipe(Flag.withDescription("The domain whose mail is handed over: its name or id")),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Folder for the files, default inlet-bridge. It is created"),
      Flag.withDefault("inlet-bridge")
    ),
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of the Worker at Cloudflare, default inlet-bridge"),
      Flag.filter(
        (name) => /^[a-z\d](?:[a-z\d-]{0,52}[a-z\d])?$/.test(name),
        () => "a name of lower-case letters, digits and dashes"
      ),
      Flag.withDefault("inlet-bridge")
    ),
    publicUrl: Flag.String("public-url").pipe(
      Flag.withDescription("URL at which Cloudflare reaches the service. Default that of --url"),
      Flag.optional
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, folder, json, name, publicUrl, ...place }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const url = yield* reachable(publicUrl, yield* Service.baseUrl(place))
    const { domain: domainName, id } = yield* Service.ask(place, (api) => Service.domain(api, domain))
    const [script, settings] = [path.join(folder, "worker.js"), path.join(folder, "wrangler.jsonc")]
    for (const file of [script, settings]) {
      if (yield* fs.exists(file)) {
        return yield* new CommandFailed({ message: `${file} exists. Name another --folder, or remove the file` })
      }
    }
    const configuration = {
      name,
      main: "worker.js",
      compatibility_date: compatibilityDate,
      workers_dev: false,
      // The key is a secret, which wrangler stores at Cloudflare.
      vars: { INLET_URL: url, INLET_DOMAIN_ID: id }
    }
    yield* fs.makeDirectory(folder, { recursive: true })
    yield* fs.writeFileString(script, yield* fs.readFileString(yield* Effect.orDie(path.fromFileUrl(worker))))
    yield* fs.writeFileString(settings, `${JSON.stringify(configuration, null, 2)}\n`)
    yield* Answer.lines(json, { worker: script, configuration: settings }, [
      `Wrote ${script} and ${settings}`,
      "",
      "Make a key for the worker, and publish it:",
      `  inlet keys create --scope ingest --domain ${domainName} --name ${name}`,
      `  cd ${folder}`,
      "  npx wrangler deploy",
      "  npx wrangler secret put INLET_INGEST_KEY",
      `Then let Email Routing of ${domainName} send to the Worker ${name}`
    ])
  })
).pipe(
  Command.withDescription("Write a Cloudflare Email Worker that hands mail over to the service"),
  Command.provide(NodeHttpClient.layerUndici)
)

export const command = Command.make("bridge").pipe(
  Command.withDescription("Receive mail through another service, without port 25"),
  Command.withSubcommands([cloudflare])
)
