import { createHmac } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, layer, vi } from "@effect/vitest"
import { Clock, Context, Effect, FileSystem, Layer, Path } from "effect"
import { call } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

// Programs start slowly on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

/** An empty folder into which the package was installed as anybody would get it. */
class Customer extends Context.Service<
  Customer,
  { readonly folder: string; write(file: string, text: string): Effect.Effect<void> }
>()("inlet/test/Customer") {
  static readonly layer = Layer.effect(
    Customer,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const packed = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-packed-" })
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-customer-" })
      const succeed = Effect.fnUntraced(function* (cwd: string, args: ReadonlyArray<string>) {
        const { code, stderr, stdout } = yield* Program.run("npm", args, { cwd })
        assert.strictEqual(code, 0, `npm ${args.join(" ")}\n${stdout}\n${stderr}`)
      })

      yield* succeed(Program.root, ["pack", "--pack-destination", packed])
      const [tarball = ""] = yield* fs.readDirectory(packed)
      assert.match(tarball, /^inlet-\d+\.\d+\.\d+\.tgz$/)
      yield* succeed(folder, [
        "install",
        "--prefix",
        folder,
        "--prefer-offline",
        "--no-audit",
        "--no-fund",
        path.join(packed, tarball)
      ])
      return Customer.of({
        folder,
        write: (file, text) => Effect.orDie(fs.writeFileString(path.join(folder, file), text))
      })
    })
  ).pipe(Layer.provide(NodeServices.layer))
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const eventId = "0198c5d2-7a3e-7000-8000-000000000001"
const body = JSON.stringify({ event_id: eventId, subject: "Grüße", recipient: "agent@example.com" })

/** Headers made with Node's HMAC alone. */
const signed = Effect.gen(function* () {
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return {
    "x-service-event-id": eventId,
    "x-service-timestamp": `${seconds}`,
    "x-service-signature": `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
  }
})

layer(Layer.merge(Customer.layer, NodeServices.layer), { excludeTestServices: true, timeout: "180 seconds" })(
  "The published package",
  (it) => {
    it.effect("contains what was compiled, its README, its license and package.json, and nothing else", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Customer
        const files = yield* fs.readDirectory(`${folder}/node_modules/inlet`, { recursive: true })
        const outside = files.filter((file) => file !== "dist" && !file.startsWith("dist/"))
        assert.deepStrictEqual(outside.sort(), ["LICENSE", "README.md", "package.json"])
        const compiled = files.filter((file) => file.includes("."))
        assert.includeMembers(compiled, ["dist/src/webhook.js", "dist/src/webhook.d.ts", "dist/src/cli/main.js"])
        assert.deepStrictEqual(
          compiled.filter((file) => file.startsWith("dist/") && !/\.(js|d\.ts)$/.test(file)),
          []
        )
        assert.deepStrictEqual(
          compiled.filter((file) => /test/.test(file)),
          []
        )
      })
    )

    it.effect("verifies a signature made by hand, and refuses another", () =>
      Effect.gen(function* () {
        const customer = yield* Customer
        yield* customer.write(
          "verify.mjs",
          `import { verifySync } from "inlet/webhook"
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

    it.effect("serves a receiver as the README shows it", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const customer = yield* Customer
        const readme = yield* fs.readFileString(`${customer.folder}/node_modules/inlet/README.md`)
        const [, code = ""] = /```js\n((?:(?!```)[\s\S])*"inlet\/webhook"[\s\S]*?)```/.exec(readme) ?? []
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
        assert.match(refused.text, /^The signature does not match/)
      }).pipe(Effect.scoped)
    )

    it.effect("has types: an event's fields are known", () =>
      Effect.gen(function* () {
        const customer = yield* Customer
        yield* customer.write(
          "typed.mts",
          `import { verifySync, type InboundEvent } from "inlet/webhook"
           const event: InboundEvent = verifySync({ headers: {}, rawBody: "", secret: "" })
           const subject: string = event.subject
           const names: ReadonlyArray<string | null> = event.attachments.map(({ filename }) => filename)
           // @ts-expect-error: no such field
           event.nothing
           export { names, subject }`
        )
        const args = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck"]
        const types = ["--types", "node", "--typeRoots", `${Program.root}node_modules/@types`]
        const { code, stdout } = yield* Program.run(
          `${Program.root}node_modules/.bin/tsc`,
          [...args, ...types, "typed.mts"],
          { cwd: customer.folder }
        )
        assert.strictEqual(stdout, "")
        assert.strictEqual(code, 0)
      })
    )

    it.effect("runs as npx inlet", () =>
      Effect.gen(function* () {
        const { folder } = yield* Customer
        const help = yield* Program.run("npx", ["--no-install", "inlet", "--help"], { cwd: folder })
        assert.match(help.stdout, /^ {2}inlet <subcommand> \[flags\]$/m)
        assert.match(help.stdout, /^ {2}listen +Receive webhooks/m)
        assert.strictEqual(help.code, 0)

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
