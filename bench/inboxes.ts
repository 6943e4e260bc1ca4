import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Schema } from "effect"
import { Command } from "effect/cli"
import * as Suite from "../test/client/Suite.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Packed from "../test/Packed.ts"
import * as Flags from "./Flags.ts"

class CrossTalk extends Schema.TaggedError<CrossTalk>()("CrossTalk", { message: Schema.String }) {}

const line = (runner: string, { failed, passed, seconds }: Suite.Outcome) =>
  `${runner}: ${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s`

/** Runs Playwright and vitest suites from the tarball in parallel workers against one service. */
Command.make(
  "inboxes",
  {
    tests: Flags.count("tests", 200, "Tests of each suite, each with two mails by SMTP"),
    workers: Flags.count("workers", 8, "Workers that run them")
  },
  Effect.fn(function* ({ tests, workers }) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Suite.folder(yield* Packed.into(yield* fs.makeTempDirectoryScoped()))
    const DATA_DIR = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-inboxes-" })
    const inlet = yield* InletProcess.start({ DATA_DIR, SENDER_CHECKS: "false", SMTP_MAX_CONNECTIONS_PER_IP: "0" })
    const { json } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "inboxes" } })
    const suite = { tests, workers, url: inlet.url, smtpPort: inlet.smtpPort, apiKey: json.api_key }
    const runs = { Playwright: Suite.playwright, Vitest: Suite.vitest }
    for (const [name, run] of Object.entries(runs)) {
      const outcome = yield* run(folder, suite)
      yield* Console.log(line(name, outcome))
      if (outcome.failed > 0 || outcome.passed < tests) return yield* new CrossTalk({ message: outcome.output })
    }
  }, Effect.scoped)
).pipe(Command.run({ version: "0" }), Effect.provide(NodeServices.layer), NodeRuntime.runMain)
