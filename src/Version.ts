import { createRequire } from "node:module"
import { Schema } from "effect"

const require = createRequire(import.meta.url)

/** The version in package.json, which lies one folder up in the sources and two in the package. */
export const version = Schema.decodeUnknownSync(Schema.Struct({ name: Schema.String, version: Schema.String }))(
  require(import.meta.url.endsWith(".ts") ? "../package.json" : "../../package.json")
).version
