import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"

const sources = ["package.json", "package-lock.json", "tsconfig.json", "openapiTypescript.ts", "heyApi.ts"]

/** A folder with the compiled clients of two generators, from the document of the running service. */
class Generated extends Context.Service<Generated, { readonly folder: string }>()("inlet/test/Generated") {
  static readonly layer = Layer.effect(
    Generated,
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-clients-" })
      for (const file of sources) {
        yield* fs.copyFile(path.join(Program.root, "test/clients", file), path.join(folder, file))
      }
      const run = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>) {
        const { code, stderr, stdout } = yield* Program.run(command, args, { cwd: folder })
        assert.strictEqual(code, 0, `${command} ${args.join(" ")}\n${stdout}\n${stderr}`)
      })
      const bin = (name: string) => path.join(folder, "node_modules", name)
      yield* run("npm", ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"])
      const { text } = yield* inlet.call("GET", "/openapi.json")
      yield* fs.writeFileString(path.join(folder, "openapi.json"), text)
      yield* run(process.execPath, [bin("openapi-typescript/bin/cli.js"), "openapi.json", "-o", "schema.d.ts"])
      yield* run(process.execPath, [bin("@hey-api/openapi-ts/bin/run.js"), "-i", "openapi.json", "-o", "hey"])
      yield* run(process.execPath, [bin("typescript/bin/tsc"), "-p", "tsconfig.json"])
      return { folder }
    })
  )
}

const Told = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

layer(Generated.layer.pipe(Layer.provideMerge(TestInlet.layer()), Layer.provideMerge(NodeServices.layer)), {
  excludeTestServices: true
})("A client generated from the OpenAPI document", (it) => {
  it.effect.each(["openapiTypescript", "heyApi"])("compiles and completes the tour against the service: %s", (name) =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { folder } = yield* Generated
      const client = yield* Program.start(process.execPath, [`out/${name}.js`, inlet.url], { cwd: folder })
      const first = yield* eventually(client.stdout, (text) => text.includes("\n"))
      yield* Mail.send(inlet.smtpPort, { to: first.trim(), from: "Ada <ada@sender.example>", subject: name })
      assert.strictEqual(yield* client.exitCode, 0, yield* client.stderr)
      const [, told = ""] = (yield* client.stdout).trim().split("\n")
      const { refused, ...rest } = yield* Schema.decodeEffect(Told)(told)
      assert.deepStrictEqual(rest, {
        subject: name,
        fromName: "Ada",
        delivery: "held",
        most: 100,
        isRaw: true,
        attempts: 0,
        removed: 204
      })
      assert.match(String(refused), /^domain: Expected a name such as example\.com/)
    })
  )
})
