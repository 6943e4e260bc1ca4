import { Runtime, Schema } from "effect"

/** The failure of a command, in one line for a person. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", { message: Schema.String }) {
  /** The line is printed as it is, and nothing else about it. */
  override readonly [Runtime.errorReported] = false
}
