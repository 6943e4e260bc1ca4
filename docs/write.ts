import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import * as ApiReference from "./ApiReference.ts"
import * as ClientTypes from "./ClientTypes.ts"
import * as Proofs from "./Proofs.ts"
import * as SettingsReference from "./SettingsReference.ts"
import * as VerifySamples from "./VerifySamples.ts"

/** Writes the generated files: docs/api.md, docs/proofs.md, docs/settings.md, src/client/Contract.ts, src/console/api/Contract.ts, .env.example, the README's table, the end of docs/how-to/verify-webhooks.md. */
Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString("docs/api.md", ApiReference.render())
  yield* fs.writeFileString("src/client/Contract.ts", ClientTypes.render())
  yield* fs.writeFileString("src/console/api/Contract.ts", ClientTypes.renderRoutes())
  yield* fs.writeFileString("docs/proofs.md", Proofs.render())
  yield* fs.writeFileString("docs/settings.md", SettingsReference.page())
  yield* fs.writeFileString(".env.example", SettingsReference.example())
  const verify = "docs/how-to/verify-webhooks.md"
  yield* fs.writeFileString(verify, VerifySamples.within(yield* fs.readFileString(verify)))
  const readme = yield* fs.readFileString("README.md")
  yield* fs.writeFileString(
    "README.md",
    readme.replace(/\| setting \|.*\n(\|.*\n)+/, () => `${SettingsReference.firstTable()}\n`)
  )
}).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
