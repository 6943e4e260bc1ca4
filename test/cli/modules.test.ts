import { NodeServices } from "@effect/platform-node"
import { assert, layer, vi } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "../Program.ts"

// Programs start slowly on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

/** Tells of every module that it is loaded. */
const tell = `
  import { registerHooks } from "node:module"
  registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context) } })
  await import(process.argv[1])
`

/** Where the modules are that this one of the project has loaded. */
const loadedBy = Effect.fnUntraced(function* (module: string) {
  const args = ["--input-type=module", "--eval", tell, `${Program.root}${module}`]
  const { code, stderr, stdout } = yield* Program.run(process.execPath, args)
  if (code !== 0) return yield* Effect.die(new Error(`${module} could not be loaded: ${stderr}`))
  return stdout.split("\n").filter((url) => url.startsWith("file:"))
})

const among = (urls: ReadonlyArray<string>, ...parts: ReadonlyArray<string>) =>
  urls.filter((url) => parts.some((part) => url.includes(part)))

layer(NodeServices.layer)("What is loaded is held for as long as the process runs", (it) => {
  it.effect("so the service loads no library of a store or a way to pay that it is not set to", () =>
    Effect.gen(function* () {
      const loaded = yield* loadedBy("src/start/Start.ts")
      assert.isAbove(among(loaded, "/node_modules/effect/").length, 100)
      assert.deepStrictEqual(
        among(loaded, "/node_modules/redis/", "/node_modules/@redis/", "/node_modules/stripe/"),
        []
      )
    })
  )

  it.effect("so a parser thread, of which there are several, has next to nothing of Effect", () =>
    Effect.gen(function* () {
      const loaded = yield* loadedBy("src/reading/ParserThread.ts")
      assert.isAbove(among(loaded, "/src/mime/").length, 10)
      assert.isBelow(among(loaded, "/node_modules/effect/").length, 40)
    })
  )
})
