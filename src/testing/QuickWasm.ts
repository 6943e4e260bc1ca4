import { setFlagsFromString } from "node:v8"
import { Effect } from "effect"

/**
 * Turns V8's optimizing WebAssembly compiler off in this process, for the embedded database of a test. A database that
 * lives for seconds costs a sixth less processor time. V8 has also crashed in processes that compile PGlite's
 * WebAssembly while others do (nodejs/node#64500): it compiles once now, and frees less code.
 */
export const compileOnce: Effect.Effect<void> = Effect.sync(() => {
  // `--liftoff-only` implies the other two when it stands on the command line, and alone does nothing here.
  for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--liftoff-only"]) setFlagsFromString(flag)
})
