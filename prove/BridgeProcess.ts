import { readFileSync } from "node:fs"
import { Miniflare } from "miniflare"

// The Worker of `inlet bridge cloudflare` in workerd, as a process that can be killed.
const [folder = "", port = "", key = ""] = process.argv.slice(2)

// Written by the command.
const configuration = JSON.parse(readFileSync(`${folder}/wrangler.jsonc`, "utf8")) as {
  readonly compatibility_date: string
  readonly vars: Readonly<Record<string, string>>
}
const workerd = new Miniflare({
  modules: true,
  port: Number(port),
  script: readFileSync(`${folder}/worker.js`, "utf8"),
  bindings: { ...configuration.vars, INLET_INGEST_KEY: key },
  compatibilityDate: configuration.compatibility_date,
  unsafeTriggerHandlers: true
})
await workerd.ready
process.stdout.write("ready\n")
