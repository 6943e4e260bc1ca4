import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import * as Bombardment from "../test/flows/Bombardment.ts"
import * as InletProcess from "../test/InletProcess.ts"
import { WebhookReceiver } from "../test/WebhookReceiver.ts"

// Measures costly messages of 1 MiB, and the latency of other clients meanwhile.

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const inlet = yield* InletProcess.start({ DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bombs-" }) })
  const impacts = yield* Bombardment.run(inlet, {
    patience: 15_000,
    told: (impact) => Console.log(Bombardment.row(impact))
  })
  const readme = path.join(import.meta.dirname, "README.md")
  const text = yield* fs.readFileString(readme)
  const lines = [
    "| message | DATA → 250 | 250 → webhook | read | slowest API answer | slowest NOOP |",
    "|---|---|---|---|---|---|",
    ...impacts.map(Bombardment.row)
  ]
  yield* fs.writeFileString(
    readme,
    text.replace(
      /(<!-- bombs -->\n)[\s\S]*?(<!-- end bombs -->)/,
      (_, before, after) => `${before}\n${lines.join("\n")}\n\n${after}`
    )
  )
})

program.pipe(Effect.scoped, Effect.provide([NodeServices.layer, WebhookReceiver.layer]), NodeRuntime.runMain)
