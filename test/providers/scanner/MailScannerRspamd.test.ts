import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { InboundEmailId } from "../../../src/model/InboundEmail.ts"
import { MailScanner, type Scannable } from "../../../src/providers/scanner/MailScanner.ts"
import * as MailScannerRspamd from "../../../src/providers/scanner/MailScannerRspamd.ts"
import { eventually } from "../../Eventually.ts"
import { FakeRspamd, type Reaction } from "../../FakeRspamd.ts"
import * as Ports from "../../Ports.ts"

const World = Layer.unwrap(
  FakeRspamd.useSync(({ url }) =>
    MailScannerRspamd.layer({ url: `${url}/`, password: Redacted.make("pass-of-rspamd"), connections: 2 })
  )
).pipe(Layer.provideMerge(FakeRspamd.layer))

const mail: Scannable = {
  id: InboundEmailId.make("01981c9e-1111-7000-8000-000000000001"),
  envelope: { from: "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
  recipients: ["a@shop.example", "zoë@shop.example"],
  message: Buffer.from("Subject: Hi\r\n\r\nText\r\n")
}

const answer = (changes: object = {}) =>
  JSON.stringify({
    action: "no action",
    score: 1.2000000001,
    required_score: 15,
    symbols: {
      MIME_GOOD: { name: "MIME_GOOD", score: -0.1 },
      R_SPF_NA: { name: "R_SPF_NA", score: 1.3, options: ["x"] }
    },
    ...changes
  })

const says =
  (status: number, body: string): Reaction =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(body)

const scan = (one: Scannable = mail) => MailScanner.use((scanner) => scanner.scan(one))

layer(World, { excludeTestServices: true })("The rspamd scanner", (it) => {
  it.effect("posts the message unchanged with its envelope, and returns the verdict", () =>
    Effect.gen(function* () {
      const { last, reacts } = yield* FakeRspamd
      yield* reacts(says(200, answer()))
      assert.deepStrictEqual(yield* scan(), {
        verdict: "clean",
        score: 1.2,
        required: 15,
        symbols: [
          { name: "R_SPF_NA", score: 1.3 },
          { name: "MIME_GOOD", score: -0.1 }
        ],
        virus: null
      })
      const { body, request } = last() ?? assert.fail("no request")
      assert.strictEqual(`${request.method} ${request.url}`, "POST /checkv2")
      assert.deepStrictEqual(body, Buffer.from(mail.message))
      const field = (name: string) => Buffer.from(`${request.headers[name]}`, "latin1").toString()
      assert.deepStrictEqual(["from", "rcpt", "ip", "helo", "queue-id", "password"].map(field), [
        "bounce@sender.example",
        "a@shop.example, zoë@shop.example",
        "203.0.113.9",
        "client.example",
        mail.id,
        "pass-of-rspamd"
      ])
    })
  )

  it.effect("sends no header that an envelope could add, and no address that is none", () =>
    Effect.gen(function* () {
      const { last, reacts } = yield* FakeRspamd
      yield* reacts(says(200, answer()))
      yield* scan({ ...mail, envelope: { from: "a\r\nPassword: x\0@b", helo: "", remoteAddress: "simulate" } })
      const { headers } = last()?.request ?? assert.fail("no request")
      assert.strictEqual(headers.from, "aPassword: x@b")
      assert.notProperty(headers, "ip")
      assert.notProperty(headers, "helo")
    })
  )

  it.effect("takes each action for its verdict, and an antivirus symbol for a virus", () =>
    Effect.gen(function* () {
      const { reacts } = yield* FakeRspamd
      for (const [action, verdict] of [
        ["no action", "clean"],
        ["greylist", "clean"],
        ["soft reject", "clean"],
        ["add header", "spam"],
        ["rewrite subject", "spam"],
        ["reject", "spam"]
      ] as const) {
        yield* reacts(says(200, answer({ action })))
        assert.strictEqual((yield* scan()).verdict, verdict)
      }
      const symbols = { CLAM_VIRUS: { score: 0, options: ["Eicar-Test-Signature"] }, CLAM_VIRUS_FAIL: { score: 0 } }
      yield* reacts(says(200, answer({ symbols })))
      const { verdict, virus } = yield* scan()
      assert.deepStrictEqual([verdict, virus], ["virus", "Eicar-Test-Signature"])
      yield* reacts(says(200, answer({ symbols: { CLAM_VIRUS_FAIL: { score: 0 } } })))
      assert.strictEqual((yield* scan()).verdict, "clean")
    })
  )

  it.effect("keeps the 20 symbols with the largest absolute score, each short", () =>
    Effect.gen(function* () {
      const { reacts } = yield* FakeRspamd
      const symbols = Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [`${"S".repeat(100)}${at}`, { score: at % 2 === 0 ? at : -at }])
      )
      yield* reacts(says(200, answer({ symbols })))
      const kept = (yield* scan()).symbols
      assert.deepStrictEqual(
        kept.map(({ score }) => Math.abs(score)),
        Array.from({ length: 20 }, (_, at) => 59 - at)
      )
      assert.isTrue(kept.every(({ name }) => name.length === 64))
    })
  )

  it.effect("fails for every answer that is none, and says how, without the answer's words", () =>
    Effect.gen(function* () {
      const { reacts } = yield* FakeRspamd
      const cases: ReadonlyArray<readonly [string, Reaction]> = [
        ["unclear", says(200, "nonsense")],
        ["unclear", says(200, "{}")],
        ["unclear", says(200, answer({ action: "discard everything" }))],
        ["unclear", says(200, answer({ score: "secret-words" }))],
        ["unclear", says(503, answer())],
        ["unclear", says(403, '{"error": "secret-words"}')],
        ["unclear", says(302, "")],
        ["unclear", (_, response) => void response.writeHead(200).end(Buffer.alloc(300 * 1024, 0x20))],
        ["unclear", (request) => void request.socket.end("secret-words\r\n\r\n")],
        ["refused", says(400, "{}")],
        ["refused", says(413, "")],
        ["unreachable", (request) => void request.socket.destroy()],
        [
          "unreachable",
          (_, response) => void response.writeHead(200, { "content-length": 9 }).write("{", () => response.destroy())
        ]
      ]
      for (const [kind, reaction] of cases) {
        yield* reacts(reaction)
        const failed = yield* Effect.flip(scan())
        assert.strictEqual(failed.kind, kind, failed.message)
        assert.notMatch(failed.message, /secret-words|pass-of/)
      }
      const gone = MailScannerRspamd.layer({
        url: `http://user:secret-words@127.0.0.1:${yield* Ports.free}`,
        password: undefined,
        connections: 1
      })
      const failed = yield* Effect.flip(Effect.provide(scan(), Layer.fresh(gone)))
      assert.strictEqual(failed.message, "no answer (ECONNREFUSED)")
    })
  )

  it.effect("closes the request of a scan that is interrupted", () =>
    Effect.gen(function* () {
      const { open, reacts } = yield* FakeRspamd
      yield* reacts(() => undefined)
      const waiting = yield* Effect.forkScoped(scan())
      yield* eventually(Effect.sync(open), (count) => count === 1)
      yield* Fiber.interrupt(waiting)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(waiting)))
      yield* eventually(Effect.sync(open), (count) => count === 0)
    })
  )
})
