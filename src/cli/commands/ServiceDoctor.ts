import { Effect, Layer } from "effect"
import * as Platform from "../../process/Platform.ts"
import * as Resolver from "../../providers/dns/Resolver.ts"
import * as Settings from "../../Settings.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Checks from "./Checks.ts"
import * as ScannerCheck from "./ScannerCheck.ts"

const signs = { good: "✓", wrong: "✗", note: "·" } as const

/** All results, in the order of a mail's path. Skips DNS for development's placeholder names. */
export const findings = Effect.gen(function* () {
  yield* Settings.all
  const mode = yield* Settings.mode
  const outside =
    mode === "production"
      ? [...(yield* Checks.names), yield* Checks.port25]
      : [{ about: "DNS", verdict: "note", says: `not looked at: NODE_ENV is ${mode}` } as const]
  return [
    ...outside,
    yield* Checks.certificate,
    yield* Checks.rawStore,
    yield* Checks.database,
    ...(yield* ScannerCheck.scanner)
  ]
})

/** Checks this machine and its settings. */
export const run = Effect.fnUntraced(
  function* (json: boolean) {
    const found: ReadonlyArray<Checks.Finding> = yield* findings
    const width = Math.max(...found.map(({ about }) => about.length))
    const lines = found.map(({ about, says, verdict }) => `${signs[verdict]} ${about.padEnd(width)}  ${says}`)
    yield* Answer.lines(json, { findings: found }, lines)
    const wrong = found.filter(({ verdict }) => verdict === "wrong")
    if (wrong.length > 0) {
      return yield* new CommandFailed({ message: `Wrong: ${wrong.map(({ about }) => about).join(", ")}` })
    }
  },
  Effect.provide(Resolver.layer.pipe(Layer.provideMerge(Platform.layer)))
)
