import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import { nestedMultiparts } from "./Bombs.ts"
import { message } from "./Message.ts"

describe("A MIME part", () => {
  const mixed = (...parts: ReadonlyArray<ReadonlyArray<string>>) =>
    message(
      "Content-Type: multipart/mixed; boundary=b",
      "",
      ...parts.flatMap((lines) => ["--b", ...lines]),
      "--b--",
      ""
    )
  const text = ["Content-Type: text/plain", "", "the text"]

  it("of text with a file name is an attachment, not appended to the text", () => {
    const contents = Mime.read(
      mixed(
        text,
        ["Content-Type: text/plain; name=a.txt", "Content-Disposition: inline", "", "a"],
        ['Content-Type: text/html; name="b.html"', "", "<p>b"],
        ["Content-Type: text/plain", "", "more"]
      )
    )
    assert.strictEqual(contents.text, "the text\nmore")
    assert.isNull(contents.html)
    assert.deepStrictEqual(
      contents.attachments.map(({ contentType, filename, size }) => [filename, contentType, size]),
      [
        ["a.txt", "text/plain", 1],
        ["b.html", "text/html", 4]
      ]
    )
  })

  it("of text with a file name in first place is both text and attachment", () => {
    const contents = Mime.read(mixed(["Content-Type: text/plain; name=a.txt", "", "a"]))
    assert.strictEqual(contents.text, "a")
    assert.deepInclude(contents.attachments[0], { filename: "a.txt", size: 1 })
  })

  it("of type message is an attachment with its contents, for any disposition", () => {
    const inner = ["Subject: inner", "Content-Type: multipart/mixed; boundary=i", "", "--i", "", "inner text", "--i--"]
    const contents = Mime.read(
      mixed(
        text,
        ["Content-Type: message/rfc822", "Content-Disposition: inline", "", ...inner],
        ["Content-Type: message/partial; id=a; number=1; total=2", "", "Subject: half"],
        [
          "Content-Type: message/external-body; access-type=URL; URL=http://127.0.0.1/",
          "",
          "Content-Type: text/plain",
          ""
        ]
      )
    )
    assert.strictEqual(contents.text, "the text")
    assert.deepStrictEqual(
      contents.attachments.map(({ contentType }) => contentType),
      ["message/rfc822", "message/partial", "message/external-body"]
    )
    assert.strictEqual(contents.attachments[0]?.size, inner.join("\r\n").length)
  })

  it("of a digest is a message", () => {
    const contents = Mime.read(
      message("Content-Type: multipart/digest; boundary=b", "", "--b", "", "Subject: one", "", "1", "--b--")
    )
    assert.deepInclude(contents.attachments[0], { contentType: "message/rfc822" })
  })

  it("of a delivery report is an attachment with its type, and its fields are part of the text", () => {
    const contents = Mime.read(
      mixed(text, [
        "Content-Type: message/delivery-status",
        "",
        "Final-Recipient: rfc822; a@a.example",
        "Status: 5.1.1"
      ])
    )
    assert.strictEqual(contents.text, "the text\nFinal-Recipient: rfc822; a@a.example\nStatus: 5.1.1")
    assert.deepInclude(contents.attachments[0], { contentType: "message/delivery-status", size: 51 })
  })

  it.for([
    "message/feedback-report",
    "message/disposition-notification",
    "text/calendar",
    "text/rfc822-headers",
    "application/pgp-encrypted",
    "application/pgp-signature",
    "application/pkcs7-mime",
    "application/ms-tnef",
    "application/zip"
  ])("of %s is an unchanged attachment with type and size", (type) => {
    const bytes = mixed(text, [`Content-Type: ${type}`, "Content-Transfer-Encoding: base64", "", "UEsDBAoAAAA="])
    const contents = Mime.read(bytes)
    assert.strictEqual(contents.text, "the text")
    assert.deepInclude(contents.attachments[0], { contentType: type, size: 8 })
    const part = Mime.attachment(bytes, 0)
    assert.deepStrictEqual([...(part?.content ?? [])], [0x50, 0x4b, 3, 4, 10, 0, 0, 0])
  })

  it("of HTML without plain text is merged into the text with the others", () => {
    const contents = Mime.read(
      mixed(["Content-Type: text/html", "", "<p>the letter</p>"], ["Content-Type: text/plain", "", "the footer"])
    )
    assert.strictEqual(contents.text, "the letter\nthe footer")
    assert.strictEqual(contents.html, "<p>the letter</p>")
  })
})

describe("An excessive number of parts", () => {
  it("is parsed up to the text limit", () => {
    const many = message(
      "Subject: many",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      `${"--b\r\n\r\nx\r\n".repeat(1_100)}--b--`
    )
    const contents = Mime.read(many)
    assert.deepInclude(contents, { subject: "many", parse: "full" })
    assert.strictEqual(contents.text, Array.from({ length: 1_100 }, () => "x").join("\n"))
  })

  it("is listed up to 1,000, and the event reports the truncation", () => {
    const many = message(
      "Subject: many",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      `--b\r\n\r\nx\r\n${"--b\r\nContent-Type: image/png\r\n\r\nx\r\n".repeat(1_100)}--b--`
    )
    const contents = Mime.read(many)
    assert.deepInclude(contents, { subject: "many", text: "x", parse: "partial" })
    assert.strictEqual(contents.attachments.length, 1_000)
    const { authors, extracted, kind, match, seen, sender, visible } = contents
    assert.deepStrictEqual(
      { ...contents, text: "", attachments: [], parse: "headers" },
      { ...Mime.headersOnly(many), authors, extracted, kind, match, seen, sender, visible }
    )
  })

  it("in nesting is parsed to the innermost", () => {
    for (const depth of [900, 5_000]) {
      const contents = Mime.read(nestedMultiparts(depth))
      assert.deepInclude(contents, { text: "at the bottom", parse: "full" })
    }
  })
})
