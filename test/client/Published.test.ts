import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { TestInlet } from "../../src/testing/TestInlet.ts"
import * as Packed from "../Packed.ts"
import * as Program from "../Program.ts"
import * as Suite from "./Suite.ts"

const page = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(`${Program.root}docs/client.md`)
  const blocks = [...text.matchAll(/```ts\n(?:\/\/ ([\w.]+)\n)?([\s\S]*?)```/g)]
  const part = (file: string) => (file === "mail.test.ts" ? "vitest" : "playwright")
  const files = new Map(
    blocks.flatMap(([, file, code = ""]) => (file === undefined ? [] : [[`${part(file)}/${file}`, code]]))
  )
  const script = blocks.flatMap(([, file, code = ""]) => (file === undefined ? [code] : []))
  return { files, script }
})

class Published extends Context.Service<Published, Suite.Folder>()("inlet/test/client/Published") {
  static readonly layer = Layer.effect(
    Published,
    Effect.gen(function* () {
      return yield* Suite.folder(yield* Packed.tarball)
    })
  )
}

const World = Layer.merge(
  Published.layer,
  TestInlet.layer({ settings: { SENDER_CHECKS: "false", MAX_EMAILS_PER_DAY: "0", SMTP_MAX_CONNECTIONS_PER_IP: "0" } })
).pipe(Layer.provideMerge(NodeServices.layer))

layer(World, { excludeTestServices: true, timeout: "420 seconds" })("The client of the published package", (it) => {
  it.effect("imports neither a package nor a Node module", () =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const { read } = yield* Published
      const dist = "node_modules/inlet-mail/dist/src"
      const graph = Effect.fnUntraced(function* (start: string) {
        const seen = new Set<string>()
        const next = [path.join(dist, start)]
        for (const file of next) {
          if (seen.has(file)) continue
          seen.add(file)
          for (const [, named = ""] of (yield* read(file)).matchAll(/\bfrom\s+"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g)) {
            assert.match(named, /^\.\.?\//, `${file} imports ${named}`)
            const compiled = start.endsWith(".d.ts") ? named.replace(/\.[jt]s$/, ".d.ts") : named
            next.push(path.join(path.dirname(file), compiled))
          }
        }
        return [...seen].map((file) => path.relative(dist, file)).sort()
      })
      const modules = [
        "client.js",
        "client/Deliveries.js",
        "client/Domains.js",
        "client/Events.js",
        "client/Inbox.js",
        "client/Inlet.js"
      ]
      assert.deepStrictEqual(yield* graph("client.js"), [
        ...modules,
        "client/InletError.js",
        "client/Requests.js",
        "client/Senders.js",
        "client/Webhooks.js"
      ])
      for (const file of yield* graph("client.d.ts")) assert.match(file, /^client(\/\w+)?\.d\.ts$/)
    })
  )

  it.effect("loads within 100 ms of processor time", () =>
    Effect.gen(function* () {
      const { run } = yield* Published
      const script = `const began = process.cpuUsage()
        await import("inlet-mail/client")
        const { system, user } = process.cpuUsage(began)
        console.log((system + user) / 1_000)`
      const times = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        Effect.map(run(["--input-type=module", "-e", script]), ({ stdout }) => Number(stdout))
      )
      assert.isBelow(Math.min(...times), 100)
    })
  )

  it.effect("is the package itself, too", () =>
    Effect.gen(function* () {
      const { check, run, write } = yield* Published
      yield* write(
        "itself.ts",
        `import * as itself from "inlet-mail"
         import * as client from "inlet-mail/client"
         export const inlet: client.Inlet = new itself.Inlet({ url: "http://localhost:3000", apiKey: "ak_live_1" })
         console.log(itself.Inlet === client.Inlet)`
      )
      assert.deepStrictEqual(yield* check(["itself.ts"]), { code: 0, stdout: "" })
      assert.strictEqual((yield* run(["itself.ts"])).stdout, "true\n")
    })
  )

  it.effect("has types that compile for Node and for browsers without other packages", () =>
    Effect.gen(function* () {
      const { check, write } = yield* Published
      yield* write(
        "typed.ts",
        `import { ApiError, Inlet, type BriefEvent, type InletError, NoMail } from "inlet-mail/client"
         const inlet = new Inlet({ url: "http://localhost:3000", apiKey: "ak_live_1" })
         export const brief: Promise<ReadonlyArray<BriefEvent>> = inlet.events.list("id", { view: "brief" }).then(({ events }) => events)
         export const texts: Promise<ReadonlyArray<string>> = inlet.events.list("id").then(({ events }) => events.map(({ text }) => text))
         export const code: Promise<string> = inlet.inbox().then((inbox) => inbox.code({ subject: "Hi" }))
         export const told = (error: InletError) => error instanceof ApiError ? error.status : error instanceof NoMail ? error.arrived.length : error.message
         // @ts-expect-error: a brief event has no text
         brief.then(([event]) => event?.text)
         // @ts-expect-error: no such filter
         inlet.events.list("id", { recipent: "a@b.example" })
         // @ts-expect-error: no such kind
         inlet.inbox().then((inbox) => inbox.link("verification"))`
      )
      const browser = ["--lib", "es2024,dom,dom.asynciterable", "--types", ""]
      for (const more of [["--types", "node", "--skipLibCheck"], browser]) {
        assert.deepStrictEqual(yield* check(["typed.ts"], more), { code: 0, stdout: "" }, more.join(" "))
      }
    })
  )

  it.effect("runs the code of its page as documented", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { check, run, write } = yield* Published
      const { files, script } = yield* page
      const at = (code: string) => code.replaceAll("http://localhost:3000", inlet.url)
      for (const [file, code] of files) yield* write(file, at(code))
      yield* write("script.ts", script.join("\n"))
      const all = ["script.ts", ...files.keys()]
      assert.deepStrictEqual(all.slice(1), ["playwright/mail.spec.ts", "vitest/mail.test.ts"])
      assert.deepStrictEqual(yield* check(all), { code: 0, stdout: "" })

      const { key, secret } = yield* inlet.workspace
      const [first = "", , agent = "", pull = ""] = script
      const sent = 'await inlet.simulate(domain_id, { sample: "code" })'
      const waiting = agent.replace("// … have the mail sent …", () => sent)
      assert.include(waiting, sent)
      const before = "const leased ="
      const pulling = pull.replace(before, () => `${sent}\n${before}`)
      assert.include(pulling, sent)
      yield* write("script.ts", at([first, waiting, pulling].join("\n")))
      const env = { INLET_API_KEY: key, INLET_WEBHOOK_SECRET: secret }
      const { stderr, stdout } = yield* run(["script.ts"], env)
      const [address, code, brief, ...rest] = stdout.trim().split("\n")
      assert.match(address ?? "", /^[a-z0-9]{12}@.+\.inbox\.inlet\.test$/, stderr)
      assert.strictEqual(code, "482913")
      assert.match(brief ?? "", /^482913 is your Acme code 482913 Your verification code is/)
      assert.match(rest.at(-1) ?? "", /^\S+@\S+\.inbox\.inlet\.test 482913 is your Acme code$/)
    })
  )

  it.effect("separates the mail of parallel Playwright tests", () =>
    Effect.gen(function* () {
      const { smtpPort, url, workspace } = yield* TestInlet
      const folder = yield* Published
      const { key: apiKey } = yield* workspace
      yield* folder.write(
        "playwright/late.spec.ts",
        `import { expect, test } from "inlet-mail/playwright"
         // The start of a worker is a part of its first test.
         test("a worker starts", ({ inbox }) => expect(inbox.address).toContain("@"))
         test("a wait ends before its test", async ({ inbox }) => {
           // Not more than the wait would take by itself.
           test.setTimeout(20_000)
           await expect(inbox.code()).rejects.toThrow(/Nothing has come to it|did not say/)
         })`
      )
      // The test of the page runs too.
      const { failed, output, passed } = yield* Suite.playwright(folder, {
        tests: 15,
        workers: 4,
        url,
        smtpPort,
        apiKey
      })
      assert.deepStrictEqual([passed, failed], [18, 0], output)
      assert.notInclude(output, apiKey)
    })
  )

  it.effect("separates the mail of parallel vitest tests", () =>
    Effect.gen(function* () {
      const { smtpPort, url, workspace } = yield* TestInlet
      const folder = yield* Published
      const { key: apiKey } = yield* workspace
      const { failed, output, passed } = yield* Suite.vitest(folder, { tests: 9, workers: 2, url, smtpPort, apiKey })
      assert.deepStrictEqual([passed, failed], [10, 0], output)
    })
  )
})
