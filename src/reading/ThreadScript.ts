import { Context } from "effect"

/** The script that parser threads run. A test replaces it to delay their start. */
export const ThreadScript = Context.Reference("inlet/reading/ThreadScript", {
  defaultValue: () => new URL("./ParserThread.ts", import.meta.url)
})
