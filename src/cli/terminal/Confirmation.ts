import { Console, Effect, Stdio } from "effect"
import { Flag, Prompt } from "effect/cli"
import { CommandFailed } from "./CommandFailed.ts"

/** The flag of every command that buys or removes. */
export const yes = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDescription("Skip the confirmation. Required without a terminal"),
  Flag.withDefault(false)
)

/** Asks for confirmation. Fails on no, or without a terminal. */
export const ask = Effect.fnUntraced(function* (yes: boolean, question: string) {
  if (yes) return
  const stdio = yield* Stdio.Stdio
  if (!((yield* stdio.stdinIsTerminal) && (yield* stdio.stdoutIsTerminal))) {
    return yield* new CommandFailed({ message: `${question} There is no terminal to confirm. Add --yes` })
  }
  const isWanted = yield* Effect.catchTag(Prompt.run(Prompt.Confirm({ message: question })), "QuitError", () =>
    Effect.succeed(false)
  )
  if (!isWanted) {
    yield* Console.error("Nothing was done")
    return yield* new CommandFailed({ message: "Cancelled" })
  }
})
