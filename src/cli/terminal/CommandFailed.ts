import { Runtime, Schema } from "effect"

/** A failed command, with a one-line message. `exitCode` is 1 by default. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exitCode: Schema.optionalKey(Schema.Int)
}) {
  /** The line is printed unchanged, without a stack. */
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = this.exitCode ?? 1
}
