import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, FileSystem, Option, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import type { TestProject } from "vitest/node"
import type { Run } from "./Run.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** Shared by all files of one run. */
    readonly run: Run
  }
}

/** Runs before the first file. The returned function runs after the last. */
export const setup = (project: TestProject) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    project.provide("run", yield* Scope.provide(beginning, scope))
    return () => Effect.runPromise(Scope.close(scope, Exit.void))
  }).pipe(Effect.provide([NodeFileSystem.layer, NodeCrypto.layer]), Effect.runPromise)

const beginning = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const random = yield* SecureRandom.SecureRandom
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-run-" })
  // Concurrent runs share the server.
  const run: Run = { folder, template: `inlet_template_${(yield* random.uuidV7()).replaceAll("-", "")}` }
  yield* Effect.addFinalizer(() => Effect.orDie(dropTemplate(run)))
  return run
})

const dropTemplate = Effect.fnUntraced(function* ({ folder, template }: Run) {
  const fs = yield* FileSystem.FileSystem
  // Runs of a few files rarely need one, nor the driver.
  if (!(yield* fs.readDirectory(folder)).some((name) => name.startsWith("template"))) return
  const { administer, server } = yield* Effect.promise(() => import("./TestPostgres.ts"))
  const url = yield* server
  if (Option.isSome(url)) yield* administer(url.value, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
})
