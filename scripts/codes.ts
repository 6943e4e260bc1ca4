import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as CodeScore from "./CodeScore.ts"

// Prints precision and recall of codes and links for labelled mails.

const codes = Command.make(
  "codes",
  {
    file: Argument.String("file").pipe(Argument.withDescription("labelled mails, one in JSON on each line")),
    misses: Flag.Boolean("misses").pipe(
      Flag.withDefault(false),
      Flag.withDescription("list the mails with a difference")
    )
  },
  Effect.fn(function* ({ file, misses }) {
    const fs = yield* FileSystem.FileSystem
    const lines = (yield* fs.readFileString(file)).split("\n").filter((line) => line.trim() !== "")
    const mails = lines.flatMap((line) => Option.toArray(CodeScore.parse(line)))
    const score = CodeScore.score(mails)
    if (misses) {
      for (const { found, mail } of score.misses) {
        yield* Console.log(
          `${mail.id} wants ${JSON.stringify(mail.want)}\n  ${JSON.stringify(found)}\n  ${mail.subject}`
        )
      }
    }
    yield* Console.log(CodeScore.head)
    for (const [source, own] of score.bySource) yield* Console.log(CodeScore.row(source, own))
    yield* Console.log(CodeScore.row("**all**", score.all))
    if (mails.length < lines.length)
      yield* Console.log(`\n${lines.length - mails.length} lines are not labelled mails.`)
  })
)

Command.run(codes, { version: "1" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
