import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Path } from "effect"
import { Command, Flag } from "effect/cli"
import * as Climb from "./Climb.ts"
import * as Dice from "./Dice.ts"
import * as Genome from "./Genome.ts"

Command.make(
  "fuzz:climb",
  {
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Duration"), Flag.withDefault(300)),
    seed: Flag.Int("seed").pipe(
      Flag.withDescription("Seed of the random numbers, 0 for a new one"),
      Flag.withDefault(0)
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Folder for the costliest mails and their genomes"),
      Flag.withDefault("fuzz-found")
    )
  },
  Effect.fn(function* ({ folder, seconds, seed }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.makeDirectory(folder, { recursive: true })
    const now = yield* Clock.currentTimeMillis
    const first = seed === 0 ? now % 2_147_483_647 : seed
    yield* Console.log(`${seconds} s with the seed ${first}`)
    let climbs = 0
    const measured = yield* Climb.run(
      Dice.make(first),
      now + seconds * 1_000,
      Effect.fnUntraced(function* ({ bytes, genome, score }) {
        const file = path.join(folder, `climb-${first}-${++climbs}`)
        yield* fs.writeFile(`${file}.eml`, Genome.build(genome))
        yield* fs.writeFileString(`${file}.json`, JSON.stringify(genome, undefined, 1))
        yield* Console.log(`${score.toFixed(0)} ms per MiB, ${bytes} bytes: ${file}.eml`)
      })
    )
    yield* Console.log(`${measured} mails measured in ${climbs} climbs`)
  })
).pipe(
  Command.withDescription("Breeds mails that cost a parser thread the most CPU time for their size"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
