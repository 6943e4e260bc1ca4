import { Runtime, Schema } from "effect"

/** The failure of a command, in one line for a person. `exitCode` is 1 where it is not said. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exitCode: Schema.optionalKey(Schema.Int)
}) {
  /** The line is printed as it is, and nothing else about it. */
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = this.exitCode ?? 1
}
