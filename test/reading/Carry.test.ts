import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { ParserThreads } from "../../src/reading/ParserThreads.ts"
import { bombs } from "../mime/Bombs.ts"
import { message } from "../mime/Message.ts"
import { read, threads } from "./OnThreads.ts"

const about = {
  traceBytes: 0,
  recipient: "a@example.com",
  authenticationResults: null,
  authservId: "mx.inlet.test",
  spam: undefined
}

const carry = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  { tenant = "tenant", withParts = true, withText = false } = {}
) {
  const parser = yield* ParserThreads
  const copy = () => Uint8Array.from(bytes)
  const task = { kind: "carry", asText: true, withParts, withText, ...about } as const
  return yield* parser.carry(tenant, task, copy(), Effect.sync(copy))
})

const twoFiles = message(
  "Content-Type: multipart/mixed; boundary=b",
  "",
  "--b",
  "Content-Type: text/plain; charset=iso-8859-1",
  "",
  "\xe9",
  "--b",
  "Content-Type: image/png",
  "Content-ID: <one@x>",
  "Content-Disposition: inline; filename=one.png",
  "Content-Transfer-Encoding: base64",
  "",
  "SGVs!bG8=",
  "--b",
  "Content-Type: application/x",
  "",
  "\xff\0",
  "--b--"
)

layer(threads(), { excludeTestServices: true })("A message for a webhook", (it) => {
  it.effect("is text with its attachments, from one task of a parser thread", () =>
    Effect.gen(function* () {
      const { message, parts } = yield* carry(twoFiles)
      assert.match(Buffer.from(message).toString(), /^X-Original-To: a@example\.com\r\nContent-Type: multipart/)
      assert.include(Buffer.from(message).toString(), "Content-Transfer-Encoding: base64\r\nContent-Type: text/plain")
      assert.deepStrictEqual(
        parts.map(({ content, ...part }) => ({ ...part, content: Buffer.from(content).toString("latin1") })),
        [
          {
            contentId: "<one@x>",
            contentType: "image/png",
            disposition: "inline",
            filename: "one.png",
            content: "Hello"
          },
          { contentId: null, contentType: "application/x", disposition: null, filename: null, content: "\xff\0" }
        ]
      )
    })
  )

  it.effect("has the attachments of its event in the same order", () =>
    Effect.gen(function* () {
      const { event } = yield* read(twoFiles)
      const { parts } = yield* carry(twoFiles)
      assert.deepStrictEqual(
        parts.map(({ content, contentType }) => [contentType, content.byteLength]),
        event.attachments.map(({ contentType, size }: (typeof event)["attachments"][number]) => [contentType, size])
      )
    })
  )

  it.effect("has no attachments where the format needs none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* carry(twoFiles, { withParts: false })).parts, [])
    })
  )

  it.effect("has the text as mail libraries have it on demand, and its event's attachments", () =>
    Effect.gen(function* () {
      const bytes = message(
        "Content-Type: multipart/report; boundary=b",
        "",
        "--b",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Not delivered \t",
        "-- ",
        "Postmaster",
        "--b",
        "Content-Type: message/delivery-status",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Action: failed ",
        "--b",
        "Content-Type: text/plain",
        "Content-Disposition: attachment; filename=log.txt",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "a log ",
        "--b--"
      )
      const { event } = yield* read(bytes)
      assert.strictEqual(event.text, "Not delivered\n--\nPostmaster\nAction: failed")
      for (const withParts of [true, false]) {
        const { parts, text } = yield* carry(bytes, { withParts, withText: true })
        assert.strictEqual(text, "Not delivered \t\n-- \nPostmaster")
        assert.deepStrictEqual(
          parts.map(({ content }) => Buffer.from(content).toString()),
          withParts ? ["Action: failed", "a log"] : []
        )
      }
      assert.isNull((yield* carry(bytes)).text)
    })
  )

  it.effect("delays no other tenant's if it is costly", () =>
    Effect.gen(function* () {
      const bomb = bombs.find(({ name }) => name === "utf-7 text")?.build() ?? new Uint8Array()
      const done: Array<string> = []
      const noted = (tenant: string, bytes: Uint8Array) =>
        Effect.tap(carry(bytes, { tenant }), () => Effect.sync(() => done.push(tenant)))
      const many = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 8 }), () => noted("heavy", bomb), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow
      yield* noted("light", message("Content-Type: text/plain", "", "Hello"))
      yield* Fiber.join(many)
      assert.isBelow(done.indexOf("light"), done.length - 1)
    })
  )
})
