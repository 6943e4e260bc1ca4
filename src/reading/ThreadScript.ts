import { Context } from "effect"

/** The script of parser threads. A test holds their start. */
export const ThreadScript = Context.Reference("inlet/reading/ThreadScript", {
  defaultValue: () => new URL("./ParserThread.ts", import.meta.url)
})
