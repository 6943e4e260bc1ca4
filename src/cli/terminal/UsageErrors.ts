import { Console } from "effect"
import { CliOutput } from "effect/cli"

/** Prints why an invocation is invalid to standard error. The help would go to standard output, which scripts read. */
export const layer = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
          [...event.errors.map(({ message }) => plain(message)), `Run: ${event.commandPath.join(" ")} --help`].join(
            "\n"
          )
        )
      : CliOutput.defaultPresenter.present(event)
})

/** A flag's own text without what the library puts before it. */
const plain = (message: string) =>
  message.replace(/Expected: (?:Schema validation failed: )?(?:Expected )?/, "Expected ")
