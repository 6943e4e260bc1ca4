import { readdirSync, readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Config, Context, Effect, Layer } from "effect"
import { request } from "undici"
import { DnsServer } from "../../DnsServer.ts"
import { eventually } from "../../Eventually.ts"
import * as Mailbox from "../../Mailbox.ts"
import * as Needs from "../../Needs.ts"
import * as Rspamd from "../../Rspamd.ts"
import { TestInlet } from "../../TestInlet.ts"

/** The URL of rspamd, with ClamAV behind it. */
class Scanner extends Context.Service<Scanner, string>()("inlet/test/Scanner") {
  static readonly layer = Layer.effect(Scanner, Rspamd.start).pipe(Layer.provide(DnsServer.layer))
}

const World = Layer.unwrap(
  Scanner.useSync((url) =>
    TestInlet.layer({
      MAIL_SCANNER: "rspamd",
      RSPAMD_URL: url,
      MAIL_SCANNER_TIMEOUT: "30s",
      SENDER_CHECKS: "false",
      MAX_MESSAGE_BYTES: "8000000",
      MAX_EMAILS_PER_DAY: "0"
    })
  )
).pipe(Layer.provideMerge(Scanner.layer))

/** What rspamd itself says about the same message of the same client, asked without Inlet. */
const askedDirectly = Effect.fnUntraced(function* (message: Uint8Array, recipient: string) {
  const url = yield* Scanner
  const headers = { From: "sender@sender.example", Rcpt: recipient, IP: "127.0.0.1", Helo: "client.example" }
  const answer = yield* Effect.promise(() =>
    request(`${url}/checkv2`, { method: "POST", headers, body: message }).then(({ body }) => body.json())
  )
  // An answer of rspamd.
  const { action, required_score, score, symbols } = answer as {
    readonly action: string
    readonly score: number
    readonly required_score: number
    readonly symbols: Readonly<Record<string, { readonly options?: ReadonlyArray<string> }>>
  }
  const virus = symbols.CLAM_VIRUS?.options?.[0] ?? null
  return {
    verdict: virus !== null ? "virus" : /^(reject|add header|rewrite subject)$/.test(action) ? "spam" : "clean",
    score: Math.round(score * 100) / 100,
    required: required_score,
    virus
  }
})

const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
const eicar = "X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

const mailOf = (...lines: ReadonlyArray<string>) =>
  Buffer.from(["From: Ada <ada@sender.example>", "Subject: Test", ...lines, ""].join("\r\n"))

/** Mails sent at a time. */
const concurrency = 4

const corpusMails = 200

layer(World, { excludeTestServices: true })("With rspamd and ClamAV", (it) => {
  /** Sends mails, each to an address of its own. Succeeds with what their events say. */
  const scanned = Effect.fnUntraced(function* (messages: ReadonlyArray<Uint8Array>) {
    const inlet = yield* TestInlet
    const inbox = yield* inlet.inbox()
    const mails = messages.map((message, index) => ({ message, recipient: `m${index}@${inbox.domain}` }))
    yield* Effect.forEach(
      mails,
      ({ message, recipient }) =>
        Effect.map(Mailbox.deliver(inlet.smtpPort, recipient, message), (reply) => assert.match(reply, /^250 /)),
      { concurrency, discard: true }
    )
    return yield* Effect.forEach(
      mails,
      Effect.fnUntraced(function* ({ message, recipient }) {
        const found = yield* eventually(
          inlet.call("GET", `/api/domains/${inbox.domainId}/events?recipient=${recipient}`, { key: inbox.key }),
          ({ json }) => json.events.length === 1
        )
        return { message, recipient, event: found.json.events[0] }
      }),
      { concurrency }
    )
  })

  it.effect(
    "GTUBE is spam and EICAR a virus, in text and as a file",
    () =>
      Effect.gen(function* () {
        const events = yield* scanned([
          mailOf("", gtube),
          mailOf("", eicar),
          mailOf(
            "MIME-Version: 1.0",
            "Content-Type: application/octet-stream; name=eicar.com",
            "Content-Transfer-Encoding: base64",
            "",
            Buffer.from(eicar).toString("base64")
          ),
          mailOf("", "Good morning. The meeting is at ten.")
        ])
        assert.deepStrictEqual(
          events.map(({ event }) => [event.spam.verdict, event.spam.virus]),
          [
            ["spam", null],
            ["virus", "Eicar-Test-Signature.UNOFFICIAL"],
            ["virus", "Eicar-Test-Signature.UNOFFICIAL"],
            ["clean", null]
          ]
        )
        assert.deepStrictEqual(
          events[0]?.event.spam.symbols.map(({ name }: { readonly name: string }) => name),
          ["GTUBE"]
        )
      }),
    Needs.options(Needs.rspamd)
  )

  it.effect(
    "200 foreign messages have the verdict that rspamd gives when it is asked directly",
    () =>
      Effect.gen(function* () {
        const folder = yield* Config.String("CORPUS_DIR")
        const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".eml"))
          .sort()
        const step = files.length / corpusMails
        const chosen = Array.from({ length: corpusMails }, (_, at) => files[Math.floor(at * step)] ?? "")
        const messages = chosen.map((file) => {
          const message = readFileSync(`${folder}/${file}`)
          // As SMTP ends it.
          return message.toString("latin1").endsWith("\r\n") ? message : Buffer.concat([message, Buffer.from("\r\n")])
        })
        const events = yield* scanned(messages)
        const compared = yield* Effect.forEach(
          events,
          Effect.fnUntraced(function* ({ event, message, recipient }, index) {
            const { required, score, verdict, virus } = event.spam
            const direct = yield* askedDirectly(message, recipient)
            return { file: chosen[index], through: { verdict, score, required, virus }, direct }
          }),
          { concurrency }
        )
        assert.strictEqual(compared.length, corpusMails)
        assert.deepStrictEqual(
          compared.map(({ file, through }) => [file, through]),
          compared.map(({ direct, file }) => [file, direct])
        )
        const verdicts = new Set(compared.map(({ direct }) => direct.verdict))
        assert.isTrue(verdicts.has("spam") && verdicts.has("clean"))
      }),
    Needs.options(Needs.rspamd, Needs.corpus)
  )
})
