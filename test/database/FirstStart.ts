import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import * as InitialDatabase from "../../src/database/InitialDatabase.ts"

// A process that creates the embedded database in the given folder and exits.
const [, , folder = ""] = process.argv

InitialDatabase.ensure(folder, () => Effect.die("There is an image")).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
