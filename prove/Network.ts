import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect, Path, Random, Schema } from "effect"
import * as Needs from "../test/Needs.ts"
import * as Program from "../test/Program.ts"

/** The trial of the cluster ended with another code than 0. It has printed why. */
export class ClusterFailed extends Schema.TaggedError<ClusterFailed>()("ClusterFailed", { message: Schema.String }) {}

/**
 * Runs the trial of the cluster in network namespaces that it makes and removes. Its own loopback interface is apart
 * from the machine's.
 */
export const prove = Effect.fn("Network.prove")(function* (args: ReadonlyArray<string>) {
  yield* Needs.demand(Needs.patroni)
  const path = yield* Path.Path
  const name = `prove${yield* Random.nextIntBetween(1_000, 9_999)}`
  const script = path.join(Program.root, "deploy/cluster/network.sh")
  const network = (command: "up" | "down") =>
    Effect.flatMap(Program.run("sh", [script, command, name]), ({ code, stderr }) =>
      code === 0 ? Effect.void : Effect.die(new Error(`network.sh ${command} ended with ${code}: ${stderr}`))
    )
  yield* Effect.acquireRelease(network("up"), () => Effect.ignore(Effect.sandbox(network("down"))))
  const inside = fileURLToPath(new URL("./ClusterProcess.ts", import.meta.url))
  const command = ["netns", "exec", `${name}-inlet`, process.execPath, inside, name]
  const code = yield* Effect.callback<number | null>((resume) => {
    const child = spawn("ip", [...command, ...args], { stdio: "inherit" })
    child.once("close", (code) => resume(Effect.succeed(code)))
    return Effect.callback<void>((ended) => {
      child.once("close", () => ended(Effect.void))
      child.kill("SIGTERM")
    })
  })
  if (code !== 0) return yield* new ClusterFailed({ message: `The trial of the cluster ended with ${code}` })
}, Effect.scoped)
