import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, FileSystem, Layer } from "effect"
import { Inlet } from "../../src/client.ts"
import { TestInlet } from "../../src/testing/TestInlet.ts"
import { call } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as Packed from "../Packed.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import * as SignUpApp from "./SignUpApp.ts"
import * as Suite from "./Suite.ts"

class Published extends Context.Service<Published, Suite.Folder>()("inlet/test/client/Examples") {
  static readonly layer = Layer.effect(
    Published,
    Effect.gen(function* () {
      return yield* Suite.folder(yield* Packed.tarball)
    })
  )
}

const World = Layer.merge(
  Published.layer,
  TestInlet.layer({ settings: { SENDER_CHECKS: "false", MAX_EMAILS_PER_DAY: "0" } })
).pipe(Layer.provideMerge(NodeServices.layer))

const example = (file: string) =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(`${Program.root}examples/${file}`))

layer(World, { excludeTestServices: true, timeout: "420 seconds" })("The example", (it) => {
  it.effect(
    "sign-up.spec.ts signs up in a browser with the link and the code of real mail",
    () =>
      Effect.gen(function* () {
        const { smtpPort, url, workspace } = yield* TestInlet
        const folder = yield* Published
        const { key } = yield* workspace
        const baseURL = yield* SignUpApp.serve(smtpPort)
        const use = { baseURL, launchOptions: { executablePath: Needs.pathOfChromium, args: ["--no-sandbox"] } }
        yield* folder.write("playwright/playwright.config.ts", `export default { use: ${JSON.stringify(use)} }`)
        yield* folder.write("playwright/sign-up.spec.ts", yield* example("sign-up.spec.ts"))
        assert.deepStrictEqual(yield* folder.check(["playwright/sign-up.spec.ts"]), { code: 0, stdout: "" })
        const env = { INLET_URL: url, INLET_API_KEY: key }
        const { code, stderr, stdout } = yield* folder.playwright(["--reporter=line"], env)
        assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
        assert.include(stdout, "1 passed")
      }).pipe(Effect.scoped),
    Needs.options(Needs.chromium)
  )

  /** Sends a receiver an event, its repetition, and an unsigned one. */
  const receive = Effect.fnUntraced(function* (command: string, file: string) {
    const { url, workspace } = yield* TestInlet
    const folder = yield* Published
    yield* folder.write(file, yield* example(file))
    const { key, secret } = yield* workspace
    const inlet = new Inlet({ url, apiKey: key })
    const { address, domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
    const port = yield* Ports.free
    // Anybody could sign with an empty secret.
    for (const INLET_WEBHOOK_SECRET of [undefined, "", "nonsense"]) {
      const env = { INLET_WEBHOOK_SECRET }
      const refused = yield* Program.run(command, [file, `${port}`], { cwd: folder.path, env })
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /^Set INLET_WEBHOOK_SECRET to the signing secret, which begins with whsec_\r?\n$/)
    }
    const receiver = yield* Program.start(command, [file, `${port}`], {
      cwd: folder.path,
      env: { INLET_WEBHOOK_SECRET: secret }
    })
    yield* receiver.says("Listening on port")
    yield* Effect.promise(() => inlet.domains.setWebhook(id, `http://127.0.0.1:${port}/`))
    const { events } = yield* Effect.promise(() => inlet.simulate(id, { sample: "code" }, { wait: 10 }))
    const [event] = events
    yield* receiver.says(`${address}: ${event?.subject}, code 482913\n`)

    const delivered = (times: number) =>
      Effect.map(
        Effect.promise(() => inlet.attempts(id, { event_id: event?.event_id })),
        ({ deliveryAttempts }) => deliveryAttempts.filter(({ ok }) => ok).length === times
      )
    yield* eventually(delivered(1), (yes) => yes)
    yield* Effect.promise(() => inlet.replay(id, event?.event_id ?? "", { force: true }))
    yield* eventually(delivered(2), (yes) => yes)
    assert.strictEqual((yield* receiver.stdout).split(address).length, 2, "it is printed once")

    const now = `${Math.floor((yield* Clock.currentTimeMillis) / 1_000)}`
    const signed = {
      "x-service-event-id": event?.event_id ?? "",
      "x-service-timestamp": now,
      "x-service-signature": `t=${now},v1=${"0".repeat(64)}`
    }
    // Python's isdigit() takes this for a digit, and its int() does not.
    for (const headers of [{}, signed, { ...signed, "x-service-timestamp": "\u00b2" }]) {
      const refused = yield* call(`http://127.0.0.1:${port}`, "POST", "/", { body: "{}", headers })
      assert.strictEqual(refused.status, 401, refused.text)
      assert.isString(refused.json.error)
    }
    return { folder }
  }, Effect.scoped)

  it.effect("receiver.ts accepts a signed event once and rejects all other requests", () =>
    Effect.gen(function* () {
      const { folder } = yield* receive(process.execPath, "receiver.ts")
      assert.deepStrictEqual(yield* folder.check(["receiver.ts"]), { code: 0, stdout: "" })
    })
  )

  it.effect(
    "receiver.py does the same with the standard library of Python",
    () => Effect.asVoid(receive("python3", "receiver.py")),
    Needs.options(Needs.python)
  )
})
