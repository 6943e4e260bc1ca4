import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { eventually } from "../Eventually.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** The shell commands of a page that a reader pastes, block by block. Blocks marked `bash` are not pasted. */
const blocks = (page: string) =>
  [...readFileSync(new URL(`../../${page}`, import.meta.url), "utf8").matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, commands = ""]) => commands
  )

/** The service as started by `npm start`. */
class Started extends Context.Service<
  Started,
  { readonly env: Readonly<Record<string, string>>; readonly replacements: ReadonlyArray<readonly [string, string]> }
>()("inlet/test/flows/Started") {
  static readonly layer = Layer.effect(
    Started,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const ports = {
        http: yield* Ports.free,
        smtp: yield* Ports.free,
        webhook: yield* Ports.free,
        dns: yield* Ports.free
      }
      const env = {
        HTTP_PORT: `${ports.http}`,
        SMTP_PORT: `${ports.smtp}`,
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-tour-" }),
        DNS_SERVERS: `127.0.0.1:${ports.dns}`,
        ...(yield* TestDatabase.empty)
      }
      const service = yield* Program.start("npm", ["start"], { env })
      yield* service.says("See mail arrive")
      return {
        env,
        replacements: [
          ["localhost:3000", `localhost:${ports.http}`],
          ["127.0.0.1:2525", `127.0.0.1:${ports.smtp}`],
          ["127.0.0.1:4000", `127.0.0.1:${ports.webhook}`],
          ["--port 4000", `--port ${ports.webhook}`],
          ["--port=5353", `--port=${ports.dns}`]
        ]
      }
    })
  ).pipe(Layer.provideMerge(NodeServices.layer))
}

/** A terminal for the blocks of a page. */
const reader = Effect.gen(function* () {
  yield* Needs.demand(Needs.terminal)
  const { env, replacements } = yield* Started
  const terminal = yield* Program.start("bash", ["--noprofile", "--norc"], { env })
  // Debian's folder for name servers is not in every PATH.
  yield* terminal.type("PATH=$PATH:/usr/sbin\n")
  let pasted = 0
  /** Pastes a block, waits for its commands, and returns their output. */
  const paste = Effect.fnUntraced(function* (block: string | undefined) {
    assert.isDefined(block)
    const commands = replacements.reduce((text, [usual, here]) => text.replaceAll(usual, here), block)
    const before = (yield* terminal.printed).length
    const end = `[end of block ${++pasted}]`
    yield* terminal.type(`${commands}\necho '${end}'\n`)
    return (yield* terminal.says(end)).slice(before).replace(end, "")
  })
  return { paste, terminal }
})

describe("The README", () => {
  it("starts and tests the service with its two commands", () =>
    assert.deepStrictEqual(blocks("README.md"), ["npm ci && npm start\n", "npm ci && npm test\n"]))
})

layer(Started.layer, { excludeTestServices: true })("The tutorials", (it) => {
  it.effect(
    "work word for word when their blocks are pasted into one terminal",
    () =>
      Effect.gen(function* () {
        yield* Needs.demand(Needs.swaks, Needs.nameServer)
        const { paste, terminal } = yield* reader
        const [helper, workspace, inbox, listen, webhook, send, swaks, event, attempts, replay, code, ...others] =
          blocks("docs/tutorials/first-mail.md")
        const [simulate, end, ...more] = others
        assert.deepStrictEqual(more, [])

        yield* paste(helper)
        assert.match(yield* paste(workspace), /"api_key":"ak_live_[\w-]{43}","webhook_signing_secret":"whsec_/)
        const address = (yield* paste(inbox)).trim()
        assert.match(address, /^inbox@[a-z2-9]{10}\.inbox\.inlet\.test$/)

        yield* paste(listen)
        yield* terminal.says("Listening for webhooks on http://127.0.0.1:")
        assert.match(yield* paste(webhook), /"status":"verified","webhookUrl":"http:\/\/127\.0\.0\.1:\d+\/inbound"/)

        assert.match(yield* paste(send), /250 .*</)
        yield* terminal.says("  │ Can you read this?")
        const first = yield* terminal.printed
        assert.match(first, /✓ [\da-f-]{36} {2}verified\n/)
        assert.include(first, `  to       ${address}\n`)
        assert.include(first, "  subject  Hello\n")
        assert.match(first, /file {5}LICENSE, [\w/.-]+, \d+ bytes\n/)

        assert.strictEqual((yield* paste(swaks)).replace(/✓[\s\S]*/, "").trim(), "")
        yield* terminal.says("  │ Sent by a foreign client.")
        assert.include(yield* terminal.printed, "  subject  Hello from swaks\n")
        assert.include(yield* terminal.printed, "  from     ada@sender.example\n")

        const listed = yield* paste(event)
        assert.include(listed, "subject: 'Hello from swaks'")
        assert.include(listed, "event: 'inbound.email.received'")
        const [, eventId = ""] = /event_id: '([\da-f-]{36})'/.exec(listed) ?? []
        assert.include(yield* terminal.printed, `✓ ${eventId}  verified\n`)

        // A person is slower than the record of the attempt, and this test is not.
        const attempt = yield* eventually(paste(attempts), (listed) => listed.trim() !== "[]")
        assert.include(attempt, `event_id: '${eventId}'`)
        assert.match(attempt, /attempt: 1,[\s\S]*statusCode: 200,\s+ok: true/)

        assert.match(yield* paste(replay), new RegExp(`"event_id":"${eventId}","delivery":{"status":"pending"`))
        yield* terminal.says(`✓ ${eventId}  verified, request 2: the same event again`)
        assert.match(yield* paste(code), /\n482913\n/)
        assert.match(yield* paste(simulate), /kind: 'verify',\s+url: 'https:\/\/app\.acme\.example\/verify/)
        yield* terminal.says("  subject  Verify your email address")
        yield* paste(end)

        const [readKey, link, ...further] = blocks("docs/tutorials/agents.md")
        assert.deepStrictEqual(further, [])
        yield* paste(readKey)
        assert.match(yield* paste(link), /\nhttps:\/\/app\.acme\.example\/verify\S+\n/)

        const [buyer, search, purchase, verification, mail, wallet, ...beyond] = blocks(
          "docs/tutorials/buy-a-domain.md"
        )
        assert.deepStrictEqual(beyond, [])

        yield* paste(buyer)
        assert.match(yield* paste(search), /domain: 'my-agent\.com',\s+available: true/)
        assert.strictEqual((yield* paste(purchase)).trim(), "completed")
        assert.match(yield* paste(verification), /mx_pending/)
        assert.match(yield* paste(mail), /250 .*[\s\S]*An order/)
        assert.match(yield* paste(wallet), /"balance":"37\.02"/)

        const [owner, register, records, verify, mx, doctor, own, last, ...rest] = blocks(
          "docs/tutorials/your-own-domain.md"
        )
        assert.deepStrictEqual(rest, [])
        yield* paste(owner)
        assert.match(yield* paste(register), /_service-verify\.example\.com TXT service_verify_[\da-f]{32}\n/)
        yield* paste(records)
        yield* eventually(paste(verify), (answer) => answer.includes('"status":"mx_pending"'))
        assert.match(yield* paste(mx), /"configured":true[^\n]*\n/)
        assert.match(yield* paste(doctor), /✓ txt +[^\n]*\n/)
        assert.match(yield* paste(own), /^250 [^\n]*\n[\da-f-]{36}\n/m)
        yield* paste(last)
      }).pipe(Effect.scoped),
    Needs.options(Needs.terminal, Needs.swaks, Needs.nameServer)
  )
})
