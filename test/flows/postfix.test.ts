import { readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createTransport } from "nodemailer"
import { verify } from "../../src/effect.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import * as Postfix from "../Postfix.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const page = readFileSync(new URL("../../docs/how-to/postfix.md", import.meta.url), "utf8")

/** The lines of a section for `main.cf`, with another domain and Inlet's address. */
const settings = (heading: string, domain: string, port: number) => {
  const [, lines = ""] = new RegExp(`## ${heading}\\n[^#]*?\`\`\`ini\\n([^\`]*)`).exec(page) ?? []
  assert.include(lines, "10.0.0.5", heading)
  return lines
    .replace("example.com, example.org", domain)
    .replace("10.0.0.5:2525", `127.0.0.1:${port}`)
    .replace("[10.0.0.5]:2525", `[127.0.0.1]:${port}`)
}

/** Hands a mail to Postfix. Succeeds with the code of its reply. */
const send = (port: number, client: string, to: string, subject: string, text = "Hello") =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      createTransport({ host: "127.0.0.1", port, localAddress: client, name: "client.example", ignoreTLS: true })
    ),
    (transport) =>
      Effect.promise(() =>
        transport.sendMail({ from: "a@sender.example", to, subject, text }).then(
          ({ response }) => Number(response.slice(0, 3)),
          // An error of nodemailer.
          (error: { readonly responseCode?: number }) => error.responseCode
        )
      ),
    (transport) => Effect.sync(() => transport.close())
  )

layer(
  Layer.merge(TestInlet.layer({ SMTP_XFORWARD_FROM: "127.0.0.1/32", SENDER_CHECKS: "false" }), WebhookReceiver.layer),
  { excludeTestServices: true }
)("With the settings of the page about Postfix, where", (it) => {
  for (const heading of ["Inlet answers", "Postfix queues"]) {
    it.effect(
      `${heading}, the event has the client of Postfix`,
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const receiver = yield* WebhookReceiver
          const { address, domain, secret } = yield* inlet.inbox(receiver.url)
          const port = yield* Postfix.start(settings(heading, domain, inlet.smtpPort))
          for (const client of ["127.0.0.9", "127.0.0.10"]) {
            assert.strictEqual(yield* send(port, client, address, `from ${client}`), 250)
            const { body, headers } = yield* receiver.next
            const event = yield* verify({ headers, rawBody: body, secret })
            assert.deepStrictEqual(
              [event.subject, event.envelope],
              [`from ${client}`, { from: "a@sender.example", helo: "client.example", remoteAddress: client }]
            )
          }
        }),
      Needs.options(Needs.postfix)
    )

    it.effect(
      `${heading}, a sender is told at once that a message is too large`,
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const { address, domain } = yield* inlet.inbox()
          const port = yield* Postfix.start(settings(heading, domain, inlet.smtpPort))
          const text = "A line of some sixty characters, which no encoding makes longer\r\n".repeat(16_300)
          assert.strictEqual(yield* send(port, "127.0.0.9", address, "large", text), 552)
        }),
      Needs.options(Needs.postfix)
    )

    it.effect(
      `${heading}, a sender is told at once that an address is unknown`,
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const domain = "unknown.example"
          const port = yield* Postfix.start(settings(heading, domain, inlet.smtpPort))
          assert.strictEqual(yield* send(port, "127.0.0.9", `a@${domain}`, "unknown"), 550)
        }),
      Needs.options(Needs.postfix)
    )
  }

  it.effect(
    "Inlet answers, mail waits with its sender while Inlet is away",
    () =>
      Effect.gen(function* () {
        const domain = "away.example"
        const port = yield* Postfix.start(settings("Inlet answers", domain, yield* Ports.free))
        const code = yield* send(port, "127.0.0.9", `a@${domain}`, "away")
        assert.isTrue(code !== undefined && code >= 400 && code < 500, `${code}`)
      }),
    Needs.options(Needs.postfix)
  )
})
