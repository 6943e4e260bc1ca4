import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"

const compiled = getCompileCacheDir()

/**
 * The environment variables of a thread: only Node's compile cache, if configured. Without it each thread that starts
 * from TypeScript runs Node's type stripper, which costs 0.3 s of CPU time. The stripper is WebAssembly, and V8 can
 * crash when threads free WebAssembly code (nodejs/node#64500).
 */
// Node appends a folder for its version.
export const variables: Readonly<Record<string, string>> =
  compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }
