import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "../Program.ts"

/** Prints every loaded module. */
const tell = `
  import { registerHooks } from "node:module"
  registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context) } })
  await import(process.argv[1])
`

/** The folders of modules that a project module has loaded. */
const loadedBy = Effect.fnUntraced(function* (module: string) {
  const args = ["--input-type=module", "--eval", tell, `${Program.root}${module}`]
  const { code, stderr, stdout } = yield* Program.run(process.execPath, args)
  if (code !== 0) return yield* Effect.die(new Error(`${module} could not be loaded: ${stderr}`))
  return stdout.split("\n").filter((url) => url.startsWith("file:"))
})

const among = (urls: ReadonlyArray<string>, ...parts: ReadonlyArray<string>) =>
  urls.filter((url) => parts.some((part) => url.includes(part)))

layer(NodeServices.layer)("The loaded modules", (it) => {
  it.effect("of the service include no storage or payment library that is not configured", () =>
    Effect.gen(function* () {
      const loaded = yield* loadedBy("src/start/Start.ts")
      assert.isAbove(among(loaded, "/node_modules/effect/").length, 100)
      assert.deepStrictEqual(
        among(loaded, "/node_modules/redis/", "/node_modules/@redis/", "/node_modules/stripe/"),
        []
      )
    })
  )

  it.effect("of a parser thread include almost nothing of Effect", () =>
    Effect.gen(function* () {
      const loaded = yield* loadedBy("src/reading/ThreadReader.ts")
      assert.isAbove(among(loaded, "/src/mime/").length, 10)
      assert.isBelow(among(loaded, "/node_modules/effect/").length, 40)
    })
  )
})
