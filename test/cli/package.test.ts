import { createHmac } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, FileSystem, Layer, Path } from "effect"
import { call } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Packed from "../Packed.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

/** An empty folder with the package installed from its tarball. */
class Customer extends Context.Service<
  Customer,
  {
    readonly folder: string
    write(file: string, text: string): Effect.Effect<void>
    /** The compiler's messages for a file. */
    check(file: string): Effect.Effect<{ readonly code: number; readonly stdout: string }>
  }
>()("inlet/test/Customer") {
  static readonly layer = Layer.effect(
    Customer,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const tarball = yield* Packed.tarball
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-customer-" })
      const succeed = Effect.fnUntraced(function* (cwd: string, args: ReadonlyArray<string>) {
        const { code, stderr, stdout } = yield* Program.run("npm", args, { cwd })
        assert.strictEqual(code, 0, `npm ${args.join(" ")}\n${stdout}\n${stderr}`)
      })

      assert.match(path.basename(tarball), /^inlet-mail-\d+\.\d+\.\d+\.tgz$/)
      yield* succeed(folder, ["install", "--prefix", folder, "--prefer-offline", "--no-audit", "--no-fund", tarball])
      return Customer.of({
        folder,
        write: (file, text) => Effect.orDie(fs.writeFileString(path.join(folder, file), text)),
        check: Effect.fnUntraced(
          function* (file) {
            const args = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck"]
            const types = ["--types", "node", "--typeRoots", `${Program.root}node_modules/@types`]
            const { code, stdout } = yield* Program.run(
              `${Program.root}node_modules/.bin/tsc`,
              [...args, ...types, file],
              { cwd: folder }
            )
            return { code, stdout }
          },
          Effect.provide(NodeServices.layer),
          Effect.orDie
        )
      })
    })
  ).pipe(Layer.provide(NodeServices.layer))
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const eventId = "0198c5d2-7a3e-7000-8000-000000000001"
const body = JSON.stringify({ event_id: eventId, subject: "Grüße", recipient: "agent@example.com" })

/** Headers signed with Node's HMAC. */
const signed = Effect.gen(function* () {
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return {
    "x-service-event-id": eventId,
    "x-service-timestamp": `${seconds}`,
    "x-service-signature": `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
  }
})

layer(Layer.merge(Customer.layer, NodeServices.layer), { excludeTestServices: true, timeout: "420 seconds" })(
  "The published package",
  (it) => {
    it.effect("contains the compiled service, its start script, pages, examples and deployment files", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        const files = yield* fs.readDirectory(`${folder}/node_modules/inlet-mail`, { recursive: true })
        assert.deepStrictEqual(files.filter((file) => !file.includes("/")).sort(), [
          ".env.example",
          "CHANGELOG.md",
          "LICENSE",
          "README.md",
          "SECURITY.md",
          "deploy",
          "dist",
          "docs",
          "examples",
          "package.json",
          "start.mjs"
        ])
        assert.isTrue(
          files
            .filter((file) => /^docs\/.*\./.test(file))
            .every((file) => /\.md$|^docs\/images\/[\w-]+\.png$/.test(file))
        )
        const compiled = files.filter((file) => file.startsWith("dist/") && /\.\w+$/.test(file))
        assert.includeMembers(compiled, [
          "dist/src/webhook.js",
          "dist/src/webhook.d.ts",
          "dist/src/main.js",
          "dist/src/cli/main.js",
          "dist/src/demo/demo.html",
          "dist/migrations/0001_workspaces_and_domains.js"
        ])
        assert.isTrue(compiled.some((file) => /^dist\/src\/database\/initial-database-[\d.]+\.tar\.br$/.test(file)))
        assert.deepStrictEqual(
          compiled.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file)),
          []
        )
      })
    )

    it.effect("starts in an empty folder and delivers a verified webhook within 60 s", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        const [http, smtp, port] = [yield* Ports.free, yield* Ports.free, yield* Ports.free]
        const env = { HTTP_PORT: `${http}`, SMTP_PORT: `${smtp}`, DATABASE_URL: undefined, DATA_DIR: undefined }
        const npx = (...args: ReadonlyArray<string>) =>
          Program.start("npx", ["--no-install", "inlet-mail", ...args], { cwd: folder, env })
        const began = yield* Clock.currentTimeMillis

        const service = yield* npx("start")
        const banner = yield* service.says("send --to <address>")
        const url = `http://localhost:${http}`
        const workspace = yield* call(url, "POST", "/api/workspaces", { body: { name: "first" } })
        const { api_key: key, webhook_signing_secret: secret } = workspace.json
        const inbox = yield* call(url, "POST", "/api/instant-inbox", { key })
        const receiver = yield* npx("listen", "--port", `${port}`, "--secret", secret)
        yield* receiver.says("Listening for webhooks")
        yield* call(url, "PATCH", `/api/domains/${inbox.json.domain_id}/delivery`, {
          key,
          body: { webhookUrl: `http://127.0.0.1:${port}/` }
        })
        const sent = yield* npx("send", "--to", inbox.json.address, "--subject", "The first")
        assert.strictEqual(yield* sent.exitCode, 0, yield* sent.printed)
        yield* receiver.says("verified\n")
        assert.include(yield* receiver.printed, "subject  The first")
        assert.isBelow((yield* Clock.currentTimeMillis) - began, 60_000)

        assert.include(banner, `npx inlet-mail send --to <address> --port ${smtp}`)
        assert.strictEqual((yield* call(url, "GET", "/")).status, 200)
        assert.isTrue(yield* fs.exists(`${folder}/data/postgres`))
        yield* service.kill("SIGTERM")
      }).pipe(Effect.scoped)
    )

    it.effect("verifies a signature made by hand and rejects a wrong one", () =>
      Effect.gen(function* () {
        const customer = yield* Customer
        yield* customer.write(
          "verify.mjs",
          `import { verifySync } from "inlet-mail/webhook"
           const [headers, rawBody, secret] = process.argv.slice(2)
           try {
             console.log(verifySync({ headers: JSON.parse(headers), rawBody, secret }).subject)
           } catch ({ _tag }) {
             console.log(_tag)
           }`
        )
        const headers = JSON.stringify(yield* signed)
        const verify = (secret: string) =>
          Program.run(process.execPath, ["verify.mjs", headers, body, secret], { cwd: customer.folder })
        assert.deepStrictEqual(yield* verify(secret), { code: 0, stdout: "Grüße\n", stderr: "" })
        assert.deepStrictEqual(yield* verify("whsec_other"), { code: 0, stdout: "SignatureMismatch\n", stderr: "" })
      })
    )

    it.effect("contains every file that its README links to", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = `${(yield* Customer).folder}/node_modules/inlet-mail`
        const readme = yield* fs.readFileString(`${folder}/README.md`)
        const links = [...readme.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = ""]) => link)
        assert.isAbove(links.length, 10)
        for (const link of links) assert.isTrue(yield* fs.exists(`${folder}/${link}`), link)
      })
    )

    it.effect("runs the receiver of the README", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const customer = yield* Customer
        const readme = yield* fs.readFileString(`${customer.folder}/node_modules/inlet-mail/README.md`)
        const [, code = ""] = /```js\n((?:(?!```)[\s\S])*"inlet-mail\/webhook"[\s\S]*?)```/.exec(readme) ?? []
        const port = yield* Ports.free
        yield* customer.write("receiver.mjs", code.replace("4000", `${port}`))
        const receiver = yield* Program.start(process.execPath, ["receiver.mjs"], {
          cwd: customer.folder,
          env: { INLET_WEBHOOK_SECRET: secret }
        })
        const url = `http://127.0.0.1:${port}`
        yield* eventually(Effect.exit(call(url, "GET", "/")), ({ _tag }) => _tag === "Success")

        const headers = yield* signed
        const taken = yield* call(url, "POST", "/", { body, headers })
        assert.strictEqual(taken.status, 200)
        yield* receiver.says(`${eventId}: Grüße, for agent@example.com\n`)
        const refused = yield* call(url, "POST", "/", { body: body.replace("Grüße", "Grusse"), headers })
        assert.strictEqual(refused.status, 401)
        assert.match(refused.text, /^SignatureMismatch: The signature does not match/)
      }).pipe(Effect.scoped)
    )

    it.effect("exports types with the fields of an event", () =>
      Effect.gen(function* () {
        const customer = yield* Customer
        yield* customer.write(
          "typed.mts",
          `import { verifySync, type InboundEvent } from "inlet-mail/webhook"
           const event: InboundEvent = verifySync({ headers: {}, rawBody: "", secret: "" })
           const subject: string = event.subject
           const names: ReadonlyArray<string | null> = event.attachments.map(({ filename }) => filename)
           // @ts-expect-error: no such field
           event.nothing
           export { names, subject }`
        )
        assert.deepStrictEqual(yield* customer.check("typed.mts"), { code: 0, stdout: "" })
      })
    )

    it.effect("imports only Node modules in its webhook verification", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        for (const file of ["webhook.js", "webhook.d.ts"]) {
          const text = yield* fs.readFileString(`${folder}/node_modules/inlet-mail/dist/src/${file}`)
          const imported = [...text.matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/g)].map(([, name]) => name)
          assert.deepStrictEqual(imported, file === "webhook.js" ? ["node:crypto"] : [])
        }
      })
    )

    it.effect("reports an old Node or a missing dependency in one line", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`
        const start = `${folder}/node_modules/inlet-mail/start.mjs`
        assert.deepStrictEqual(
          yield* Program.run(process.execPath, [`--import=data:text/javascript,${old}`, start, "start"], {
            cwd: folder
          }),
          {
            code: 1,
            stdout: "",
            stderr:
              "Inlet can't start: It needs Node 22.19 or later, and this is 20.20.2. npm install node@24 brings one that npx inlet-mail start then uses\n"
          }
        )
        const alone = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-alone-" })
        yield* fs.copy(`${folder}/node_modules/inlet-mail`, alone, { overwrite: true })
        const { code, stderr } = yield* Program.run(process.execPath, [`${alone}/start.mjs`, "start"], { cwd: alone })
        assert.strictEqual(
          stderr,
          "Inlet can't start: A dependency is not installed (Cannot find package '@effect/platform-node'). Run npm install inlet-mail first\n"
        )
        assert.strictEqual(code, 1)
      }).pipe(Effect.scoped)
    )

    it.effect(
      "runs the example suites: a fake registrar with fake billing, and an external key with a forged signature",
      () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const customer = yield* Customer
          const example = yield* fs.readFileString(`${Program.root}examples/fake-layers.test.ts`)
          assert.isAtMost(example.trimEnd().split("\n").length, 20)
          const imports = [...example.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name)
          assert.deepStrictEqual(
            imports.filter((name) => !/^(node:\w+(\/\w+)?|effect|inlet-mail\/testing)$/.test(name)),
            []
          )
          yield* customer.write("fake-layers.test.ts", example)
          yield* customer.write("signers.test.ts", yield* fs.readFileString(`${Program.root}examples/signers.test.ts`))
          // In one process, because each would load the package anew.
          const args = ["--test", "--test-isolation=none", "fake-layers.test.ts", "signers.test.ts"]
          const run = yield* Program.run(process.execPath, args, { cwd: customer.folder })
          assert.strictEqual(run.code, 0, `${run.stdout}\n${run.stderr}`)
          assert.match(run.stdout, /a domain is bought from our registrar, and paid our way/)
          assert.match(run.stdout, /pass 3/)
        })
    )

    it.effect("runs the example that adds a registrar", () =>
      Effect.gen(function* () {
        const customer = yield* Customer
        yield* customer.write(
          "own.mts",
          `import { Effect, Layer } from "effect"
           import { Database, DnsHost, Inlet, Platform, Providers, Registrar, RegistrarName, Telemetry } from "inlet-mail/service"
           const acme = Layer.merge(
             Layer.succeed(Registrar, Registrar.of({
               name: RegistrarName.make("acme"),
               quote: (names) => Effect.succeed(new Map(names.map((name) => [name, 500]))),
               holds: () => Effect.succeed(false),
               register: () => Effect.void
             })),
             Layer.succeed(DnsHost, DnsHost.of({ publish: () => Effect.void }))
           )
           export const service: Layer.Layer<never, unknown> = Inlet.layer.pipe(
             Layer.provide(Providers.layerWith({ registrars: { acme } })),
             Layer.provide(Database.layer),
             Layer.provide(Telemetry.layer),
             Layer.provide(Platform.layer)
           )`
        )
        assert.deepStrictEqual(yield* customer.check("own.mts"), { code: 0, stdout: "" })
      })
    )

    it.effect("runs as npx inlet, and caches compiled code beside the packages", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        const cache = `${folder}/node_modules/.cache`
        // Otherwise the cache of the test run is used.
        const options = { cwd: folder, env: { NODE_COMPILE_CACHE: undefined } }
        const help = yield* Program.run("npx", ["--no-install", "inlet", "--help"], options)
        assert.match(help.stdout, /^ {2}inlet <subcommand> \[flags\]$/m)
        assert.match(help.stdout, /^ {2}listen +Receive webhooks/m)
        assert.strictEqual(help.code, 0)
        assert.isNotEmpty(yield* fs.readDirectory(`${cache}/inlet`))

        yield* fs.remove(cache, { recursive: true })
        yield* fs.writeFileString(cache, "a file in the place of the folder")
        assert.deepStrictEqual(yield* Program.run("npx", ["--no-install", "inlet", "--help"], options), help)
        yield* fs.remove(cache)

        const nobody = yield* Ports.free
        const sent = yield* Program.run(
          "npx",
          ["--no-install", "inlet", "send", "--to", "a@example.com", "--port", `${nobody}`],
          { cwd: folder }
        )
        assert.include(sent.stderr, `connect ECONNREFUSED 127.0.0.1:${nobody}`)
        assert.strictEqual(sent.code, 1)
      })
    )
  }
)

layer(NodeServices.layer, { excludeTestServices: true })("inlet-webhook", (it) => {
  it.effect("contains the same verification without dependencies", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-receiver-" })
      const packed = yield* Program.run("npm", ["pack", "--pack-destination", folder], {
        cwd: `${Program.root}packages/webhook`
      })
      assert.strictEqual(packed.code, 0, packed.stderr)
      const [tarball = ""] = yield* fs.readDirectory(folder)
      assert.match(tarball, /^inlet-webhook-\d+\.\d+\.\d+\.tgz$/)
      const installed = yield* Program.run(
        "npm",
        ["install", "--prefix", folder, "--offline", `${folder}/${tarball}`],
        {
          cwd: folder
        }
      )
      assert.strictEqual(installed.code, 0, installed.stderr)
      const packages = (yield* fs.readDirectory(`${folder}/node_modules`)).filter((name) => !name.startsWith("."))
      assert.deepStrictEqual(packages, ["inlet-webhook"])
      for (const file of ["webhook.js", "webhook.d.ts"]) {
        assert.notMatch(
          yield* fs.readFileString(`${folder}/node_modules/inlet-webhook/dist/${file}`),
          /from "(?!node:crypto")|import\(/
        )
      }

      const required = 'console.log(typeof require("inlet-webhook").verifySync)'
      const { stdout } = yield* Program.run(process.execPath, ["--input-type=commonjs", "-e", required], {
        cwd: folder
      })
      assert.strictEqual(stdout, "function\n")

      const readme = yield* fs.readFileString(`${folder}/node_modules/inlet-webhook/README.md`)
      const [, code = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
      const port = yield* Ports.free
      yield* fs.writeFileString(`${folder}/receiver.mjs`, code.replace("4000", `${port}`))
      const receiver = yield* Program.start(process.execPath, ["receiver.mjs"], {
        cwd: folder,
        env: { INLET_WEBHOOK_SECRET: secret }
      })
      const url = `http://127.0.0.1:${port}`
      yield* eventually(Effect.exit(call(url, "GET", "/")), ({ _tag }) => _tag === "Success")
      const headers = yield* signed
      assert.strictEqual((yield* call(url, "POST", "/", { body, headers })).status, 200)
      yield* receiver.says(`${eventId}: Grüße, for agent@example.com\n`)
      const refused = yield* call(url, "POST", "/", { body: `${body} `, headers })
      assert.strictEqual(refused.status, 401)
    }).pipe(Effect.scoped)
  )

  it.effect("has the version of the service", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const versionOf = (file: string) =>
        Effect.map(fs.readFileString(`${Program.root}${file}`), (text): string => JSON.parse(text).version)
      assert.strictEqual(yield* versionOf("packages/webhook/package.json"), yield* versionOf("package.json"))
    })
  )
})
