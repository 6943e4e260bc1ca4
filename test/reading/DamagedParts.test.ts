import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Mime from "../../src/mime/Mime.ts"
import * as DamagedParts from "../../src/reading/DamagedParts.ts"
import { message } from "../mime/Message.ts"

/** Base64 with a parity bit in each byte: invalid by RFC 2045, but decoded by mailparser. */
const withParity = (text: string) =>
  String.fromCharCode(...[...Buffer.from(text).toString("base64")].map((letter) => letter.charCodeAt(0) | 0x80))

const mixed = (...bodies: ReadonlyArray<string>) =>
  message(
    "Content-Type: multipart/mixed; boundary=b",
    "",
    ...bodies.flatMap((body) => ["--b", "Content-Transfer-Encoding: base64", "", body]),
    "--b--",
    ""
  )

const read = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const opened = Mime.open(bytes)
  const mended = yield* Effect.promise(() => DamagedParts.mend(opened.damaged))
  return { ...opened.read(mended), mended: mended.size }
})

describe("A damaged part", () => {
  it.effect("is decoded as in mailparser without affecting the message", () =>
    Effect.gen(function* () {
      const bytes = mixed(withParity("Hello"), "d29ybGQ=")
      assert.deepInclude(Mime.read(bytes), { text: "world", parse: "partial" })
      assert.deepInclude(yield* read(bytes), { text: "Hello\nworld", parse: "full" })
    })
  )

  it.effect("keeps the footer that a mailing list appended", () =>
    Effect.gen(function* () {
      const { parse, text } = yield* read(mixed("SGVsbG8hI\r\n-- \r\nlist footer"))
      assert.deepStrictEqual([text, parse], ["Hello!-- \nlist footer", "full"])
    })
  )

  it.effect.each([
    ["is larger than 32 KiB", mixed(`!${"QUJD\r\n".repeat(6_000)}`), "ABC".repeat(6_000)],
    ["has a long run of whitespace", mixed(`SGVs!bG8h\r\n${" ".repeat(300)}REVG`), "Hello!DEF"]
  ] as const)("that %s is decoded as far as possible, and the event is partial", ([, bytes, text]) =>
    Effect.gen(function* () {
      assert.deepInclude(yield* read(bytes), { text, parse: "partial", mended: 0 })
    })
  )

  it.effect("after sixteen others is decoded as far as possible", () =>
    Effect.gen(function* () {
      const sixteen = Array.from({ length: 16 }, () => "SGVs!bG8h")
      assert.deepInclude(yield* read(mixed(...sixteen)), { parse: "full", mended: 16 })
      const more = yield* read(mixed(...sixteen, "REVG!NDU2"))
      assert.deepInclude(more, { parse: "partial", mended: 16 })
      assert.include(more.text, "DEF456")
    })
  )
})
