import { createRequire } from "node:module"
import { Schema } from "effect"

const require = createRequire(import.meta.url)

/** A clone runs its sources; the package has what was compiled of them. */
const isClone = import.meta.url.endsWith(".ts")

/** What a person types before the name of a command. */
export const commandLine = isClone ? "npm run -s inlet --" : "npx inlet-mail"

/** The version in package.json, which lies one folder up in the sources and two in the package. */
export const version = Schema.decodeUnknownSync(Schema.Struct({ name: Schema.String, version: Schema.String }))(
  require(isClone ? "../package.json" : "../../package.json")
).version
