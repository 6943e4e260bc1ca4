import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, Exit, Fiber, Option, Redacted } from "effect"
import { TestConsole } from "effect/testing"
import * as ForwardCopies from "../../src/cli/listen/ForwardCopies.ts"
import * as ForwardTaken from "../../src/cli/listen/ForwardTaken.ts"
import * as Service from "../../src/cli/terminal/Service.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { eventually } from "../Eventually.ts"
import type { Inbox } from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

/** Runs `inlet listen --forward-to` in this process. */
export const start = Effect.fnUntraced(function* (
  { domainId, key }: Inbox,
  options: Partial<ForwardCopies.Options> & {
    readonly url: string
    readonly file: string
    /** The `--take` concurrency. Without it, the command forwards copies. */
    readonly take?: number
  }
) {
  const { url } = yield* TestInlet
  const { file, take, ...given } = options
  const console = yield* TestConsole.make
  const printed = (lines: Effect.Effect<ReadonlyArray<unknown>>) => Effect.map(lines, (all) => all.map(String))
  const place = { url: Option.some(url), key: Option.some(Redacted.make(key)) }
  const running = yield* Effect.forkScoped(
    Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const id = DomainId.make(domainId)
        if (take !== undefined) return yield* ForwardTaken.run(api, id, { json: false, atOnce: take, ...given })
        const copies = { json: false, cursorFile: Option.some(file), fromStart: false, after: Option.none() }
        return yield* ForwardCopies.run(api, id, { ...copies, ...given })
      })
    ).pipe(Effect.provideService(Console.Console, console), Effect.provide(NodeHttpClient.layerUndici))
  )
  const listener = {
    /** The lines of its standard output and standard error. */
    lines: printed(console.logLines),
    said: printed(console.errorLines),
    says: (text: string) => eventually(printed(console.errorLines), (lines) => lines.join("\n").includes(text)),
    stop: Fiber.interrupt(running),
    /** The line of its failure. */
    failure: Effect.map(Fiber.await(running), (exit) =>
      Exit.isFailure(exit) ? Effect.runSync(Effect.flip(exit)).message : "it has not failed"
    )
  }
  yield* Effect.race(listener.says("Ctrl-C stops"), Fiber.await(running))
  return listener
})
