import { createRequire } from "node:module"
import { Schema } from "effect"

const require = createRequire(import.meta.url)

/** A clone runs its sources; the package and the image have what was compiled of them. */
const isCompiled = import.meta.url.endsWith(".js")

/** Only who has installed the package may ask for it by its name: elsewhere npx would ask a registry, and run what it has. */
const isInstalled = import.meta.url.includes("/node_modules/")

/** What a person types before the name of a command. */
export const commandLine = isInstalled ? "npx inlet-mail" : "npm run -s inlet --"

/** The version in package.json, which lies one folder up in the sources and two in what was compiled. */
export const version = Schema.decodeUnknownSync(Schema.Struct({ name: Schema.String, version: Schema.String }))(
  require(isCompiled ? "../../package.json" : "../package.json")
).version
