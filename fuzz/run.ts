import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as InletProcess from "../test/InletProcess.ts"
import * as ApiRequests from "./ApiRequests.ts"
import * as Dice from "./Dice.ts"
import * as Found from "./Found.ts"
import * as Messages from "./Messages.ts"
import * as SmtpDialogues from "./SmtpDialogues.ts"

class Broken extends Schema.TaggedError<Broken>()("Broken", { message: Schema.String }) {}

/** A service for the fuzzer without limits, which sends nothing outside this machine. */
const start = Effect.gen(function* () {
  const inlet = yield* InletProcess.start({
    ...(yield* InletProcess.emptyInstallation),
    SMTP_MAX_CONNECTIONS_PER_IP: "0",
    REPLAYS_PER_MINUTE: "0",
    WEBHOOK_CHANGES_PER_MINUTE: "0",
    WEBHOOK_CHANGES_PER_DAY: "0",
    MAX_DOMAINS_PER_WORKSPACE: "0"
  })
  return { inlet, inbox: yield* inlet.inbox("http://127.0.0.1:9/hook") }
})

Command.make(
  "fuzz",
  {
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Duration"), Flag.withDefault(30)),
    seed: Flag.Int("seed").pipe(
      Flag.withDescription("Seed of the random numbers, 0 for a new one"),
      Flag.withDefault(0)
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Folder for inputs that cause a failure"),
      Flag.withDefault("fuzz-found")
    )
  },
  Effect.fn(function* ({ folder, seconds, seed }) {
    const now = yield* Clock.currentTimeMillis
    const first = seed === 0 ? now % 2_147_483_647 : seed
    const found = yield* Found.make(folder)
    const messages = yield* Messages.seeds
    yield* Console.log(`${seconds} s with the seed ${first} and ${messages.length} messages`)
    const service = yield* start
    const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
    const [read, dialogues, requests] = yield* Effect.all(
      [
        Messages.run(Dice.make(first), messages, found, until),
        SmtpDialogues.run(Dice.make(first + 1), service, messages, found, until),
        ApiRequests.run(Dice.make(first + 2), service.inlet, found, until)
      ],
      { concurrency: "unbounded" }
    )
    const printed = yield* service.inlet.output
    if (/ (ERROR|FATAL) /.test(printed)) yield* found.add("log", "the service logged errors", printed)
    yield* Console.log(`${read} messages, ${dialogues} dialogues, ${requests} requests`)
    if (found.faults.length === 0) return
    return yield* new Broken({ message: found.faults.join("\n") })
  }, Effect.scoped)
).pipe(
  Command.withDescription("Fuzzes the parser, SMTP and the API, and reports exceptions, 500 answers and hangs"),
  Command.run({ version: "1" }),
  Effect.tapErrorTag("Broken", ({ message }) => Console.error(message)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
