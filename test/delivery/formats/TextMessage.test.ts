import { isUtf8 } from "node:buffer"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { simpleParser } from "mailparser"
import * as TextMessage from "../../../src/delivery/formats/TextMessage.ts"
import * as Mime from "../../../src/mime/Mime.ts"
import { message } from "../../mime/Message.ts"

const text = (bytes: Uint8Array) => {
  const made = TextMessage.of(bytes)
  assert.isTrue(isUtf8(made))
  return Buffer.from(made).toString()
}

const parsed = (bytes: Uint8Array) => Effect.promise(() => simpleParser(Buffer.from(bytes)))

describe("A message as text", () => {
  it("is the same bytes if it is valid UTF-8", () => {
    for (const bytes of [
      Buffer.from("Subject: Grüße 漢字\r\n\r\n🎉\0\r"),
      message("A: b", "", "7 bit"),
      Buffer.alloc(0)
    ]) {
      assert.strictEqual(TextMessage.of(bytes), bytes)
    }
  })

  it("has a part in another charset as base64, with its type", () => {
    assert.strictEqual(
      text(
        message(
          "A: 1",
          "Content-Type: text/plain; charset=iso-8859-1",
          "Content-Transfer-Encoding:",
          " 8bit",
          "B: 2",
          "",
          "Gen\xe8ve",
          ""
        )
      ),
      "Content-Transfer-Encoding: base64\r\nA: 1\r\nContent-Type: text/plain; charset=iso-8859-1\r\nB: 2\r\n\r\nR2Vu6HZlDQo=\r\n"
    )
  })

  it("changes only the parts that are not UTF-8", () => {
    assert.strictEqual(
      text(
        message(
          "Content-Type: multipart/mixed; boundary=b",
          "",
          "preamble",
          "--b",
          "Content-Type: text/plain; charset=utf-8",
          "",
          "Gr\xc3\xbc\xc3\x9fe",
          "--b",
          "Content-Type: text/plain; charset=koi8-r",
          "",
          "\xf0\xd2\xc9",
          "--b",
          "",
          "\xff",
          "--b--"
        )
      ),
      [
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "preamble",
        "--b",
        "Content-Type: text/plain; charset=utf-8",
        "",
        "Grüße",
        "--b",
        "Content-Transfer-Encoding: base64",
        "Content-Type: text/plain; charset=koi8-r",
        "",
        "8NLJ",
        "--b",
        "Content-Transfer-Encoding: base64",
        "",
        "/w==",
        "--b--"
      ].join("\r\n")
    )
  })

  it("decodes raw header fields by their own bytes", () => {
    const made = text(message("Subject: Gr\xfc\xdfe", "X-Utf8: Gr\xc3\xbc\xc3\x9fe", "", "\xe9"))
    assert.include(made, "Subject: Grüße\r\nX-Utf8: Grüße\r\n")
  })

  it.effect("has a forwarded message that other programs can still read", () =>
    Effect.gen(function* () {
      const bytes = message(
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: message/rfc822",
        "Content-Disposition: attachment",
        "",
        "Subject: inner",
        "Content-Type: text/plain; charset=iso-8859-1",
        "",
        "\xe9t\xe9",
        "--b--"
      )
      const made = text(bytes)
      assert.strictEqual(made.split("base64").length, 2)
      assert.include(made, "Subject: inner\r\n")
      const { attachments } = yield* parsed(Buffer.from(made))
      const inner = yield* parsed(attachments[0]?.content ?? Buffer.alloc(0))
      assert.strictEqual(inner.text?.trim(), "été")
    })
  )

  it("ends forwarded messages of any depth", () => {
    const deep = "Content-Type: message/rfc822\r\n\r\n".repeat(20_000)
    assert.isTrue(isUtf8(TextMessage.of(Buffer.from(`${deep}\xff`, "latin1"))))
  })

  const pieces = [
    "Content-Type: multipart/mixed; boundary=b\r\n",
    "Content-Type: message/rfc822\r\n",
    "Content-Type: text/plain; charset=iso-8859-1\r\n",
    "Content-Transfer-Encoding: quoted-printable\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "\r\n",
    "\n",
    "\r",
    "--b\r\n",
    "\r\n--b\r\n",
    "--b--\r\n",
    "\xe9",
    "=E9",
    "6Q==",
    "text",
    "\xc3\xa9",
    "\x1b$B",
    "\0"
  ]
  it.prop(
    "is valid UTF-8 and unchanged by a second time, for any structure",
    { some: Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 30 }) },
    ({ some }) => {
      const made = TextMessage.of(Buffer.from(some.join(""), "latin1"))
      assert.isTrue(isUtf8(made))
      assert.strictEqual(TextMessage.of(made), made)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop("is valid UTF-8 for any bytes", { bytes: Schema.Uint8Array }, ({ bytes }) => {
    assert.isTrue(isUtf8(TextMessage.of(bytes)))
  })

  it.prop(
    "has the same attachments as the message",
    {
      contents: Arbitrary.array(Arbitrary.schema(Schema.Uint8Array), { maxLength: 5 }),
      encodings: Arbitrary.array(Arbitrary.schema(Schema.Literals(["base64", "8bit", "none"])), { maxLength: 5 })
    },
    ({ contents, encodings }) => {
      const bytes = Buffer.concat([
        Buffer.from("Subject: x\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n"),
        ...contents.flatMap((content, index) => {
          const encoding = encodings[index] ?? "none"
          // A line that looks like a boundary, and dangling CRs, are another matter.
          const raw = Buffer.from(
            Buffer.from(content)
              .toString("latin1")
              .replace(/[\r\n-]/g, "."),
            "latin1"
          )
          return [
            Buffer.from(
              `--outer\r\nContent-Type: application/x\r\n${encoding === "none" ? "" : `Content-Transfer-Encoding: ${encoding}\r\n`}\r\n`
            ),
            encoding === "base64" ? Buffer.from(raw.toString("base64")) : raw,
            Buffer.from("\r\n")
          ]
        }),
        Buffer.from("--outer--\r\n\xff", "latin1")
      ])
      const contentsOf = (from: Uint8Array) =>
        Mime.open(from)
          .attachments()
          .map(({ content }) => Buffer.from(content))
      assert.deepStrictEqual(contentsOf(TextMessage.of(bytes)), contentsOf(bytes))
    },
    { arbitrary: { runs: 200 } }
  )
})
