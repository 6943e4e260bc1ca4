import { setFlagsFromString } from "node:v8"
import { Effect } from "effect"

/**
 * Turns V8's optimizing WebAssembly compiler off in this process, for the embedded database of a test. A database
 * that lives for seconds costs a sixth less CPU time. V8 has also crashed in processes that compile PGlite's
 * WebAssembly concurrently (nodejs/node#64500). Now it compiles once and frees less code.
 */
export const compileOnce: Effect.Effect<void> = Effect.sync(() => {
  // On the command line `--liftoff-only` implies the other two. Alone it has no effect here.
  for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--liftoff-only"]) setFlagsFromString(flag)
})
