import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Platform from "../../process/Platform.ts"
import * as Resolver from "../../providers/dns/Resolver.ts"
import * as Settings from "../../Settings.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Checks from "./Checks.ts"

const signs = { good: "✓", wrong: "✗", note: "·" } as const

/** All results, in the order of a mail's path. Skips DNS for development's placeholder names. */
export const findings = Effect.gen(function* () {
  yield* Settings.all
  const mode = yield* Settings.mode
  const outside =
    mode === "production"
      ? [...(yield* Checks.names), yield* Checks.port25]
      : [{ about: "DNS", verdict: "note", says: `not looked at: NODE_ENV is ${mode}` } as const]
  return [...outside, yield* Checks.certificate, yield* Checks.rawStore, yield* Checks.database]
})

export const command = Command.make(
  "doctor",
  {},
  Effect.fnUntraced(
    function* () {
      const found: ReadonlyArray<Checks.Finding> = yield* findings
      const width = Math.max(...found.map(({ about }) => about.length))
      for (const { about, says, verdict } of found) {
        yield* Console.log(`${signs[verdict]} ${about.padEnd(width)}  ${says}`)
      }
      const wrong = found.filter(({ verdict }) => verdict === "wrong")
      if (wrong.length > 0) {
        return yield* new CommandFailed({ message: `Wrong: ${wrong.map(({ about }) => about).join(", ")}` })
      }
    },
    Effect.provide(Resolver.layer.pipe(Layer.provideMerge(Platform.layer)))
  )
).pipe(Command.withDescription("Check what incoming mail needs: DNS, port 25, certificate, raw store, database"))
