import { createRequire } from "node:module"
import { Schema } from "effect"

const require = createRequire(import.meta.url)

/** Whether this code is compiled, as in the package and the image. A clone runs its sources. */
const isCompiled = import.meta.url.endsWith(".js")

/** Whether the package is installed. Otherwise npx would ask a registry for its name, and run what it finds. */
const isInstalled = import.meta.url.includes("/node_modules/")

/** The prefix of a command. */
export const commandLine = isInstalled ? "npx inlet-mail" : "npm run -s inlet --"

/** The version in package.json, which is one folder up from the sources and two from compiled code. */
export const version = Schema.decodeUnknownSync(Schema.Struct({ name: Schema.String, version: Schema.String }))(
  require(isCompiled ? "../../package.json" : "../package.json")
).version
