import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Path } from "effect"
import * as Program from "../Program.ts"

const sample = /```[jt]s\n([\s\S]*?)```/g

/** The values that a page leaves to the reader's program. */
const given = `
import type { IncomingMessage } from "node:http"
declare global {
  const request: IncomingMessage
  const rawBody: Buffer
  const secret: string
}
`

describe("The samples of the pages", () => {
  it.live("that import the package compile strictly", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-samples-" })
      yield* fs.symlink(`${Program.root}node_modules`, path.join(folder, "node_modules"))
      const write = (file: string, text: string) => fs.writeFileString(path.join(folder, file), text)
      yield* write("package.json", '{ "type": "module" }')
      yield* write("given.ts", given)
      const docs = yield* fs.readDirectory(`${Program.root}docs`, { recursive: true })
      // The test of the published client compiles docs/client.md, whose samples continue each other.
      const pages = docs.filter((file) => file.endsWith(".md") && file !== "client.md").map((file) => `docs/${file}`)
      const written: Array<string> = []
      for (const page of ["README.md", "packages/webhook/README.md", ...pages]) {
        const text = yield* fs.readFileString(`${Program.root}${page}`)
        for (const [, code = ""] of text.matchAll(sample)) {
          // The types of inlet-mail/testing are those of the whole service, which take the compiler 30 s.
          if (!/ from "inlet-(?:mail\/(?!testing)|webhook")/.test(code)) continue
          written.push(page)
          yield* write(`${page.replaceAll(/\W/g, "-")}-${written.length}.ts`, `import "./given.ts"\n${code}`)
        }
      }
      assert.includeMembers(written, ["README.md", "docs/how-to/operational-events.md"])
      yield* write(
        "tsconfig.json",
        JSON.stringify({
          extends: `${Program.root}tsconfig.json`,
          compilerOptions: {
            paths: {
              "inlet-mail/*": [`${Program.root}src/*.ts`],
              "inlet-webhook": [`${Program.root}src/webhook.ts`]
            }
          },
          include: ["*.ts"]
        })
      )
      const tsc = `${Program.root}node_modules/typescript/bin/tsc`
      const { code, stdout } = yield* Program.run(process.execPath, [tsc, "-p", folder])
      assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
