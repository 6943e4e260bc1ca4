import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import { message } from "./Message.ts"

describe("Broken MIME", () => {
  const part = (...lines: ReadonlyArray<string>) => ["--b", ...lines]
  const mixed = (...lines: ReadonlyArray<string>) =>
    message("Subject: x", "Content-Type: multipart/mixed; boundary=b", "", ...lines, "--b--", "")

  it.for([
    ["a missing empty line", message("Subject: x", "Hello there,", "this is the text", "", "Bye")],
    ["line feeds", Buffer.from("Subject: x\n\nHello there,\nthis is the text\n\nBye")],
    ["carriage returns", Buffer.from("Subject: x\r\rHello there,\rthis is the text\r\rBye\r\n")],
    ["two CR in each line", Buffer.from("Subject: x\r\r\n\r\r\nHello there,\r\r\nthis is the text\r\r\n\r\r\nBye")],
    [
      "a malformed type",
      message("Subject: x", "Content-Type: text plain", "", "Hello there,", "this is the text", "", "Bye")
    ],
    [
      "a type of one word",
      message("Subject: x", "Content-Type: text", "", "Hello there,", "this is the text", "", "Bye")
    ],
    [
      "a multipart without its boundary",
      message("Subject: x", "Content-Type: multipart/mixed", "", "Hello there,", "this is the text", "", "Bye")
    ],
    [
      "a multipart with the wrong boundary",
      message(
        "Subject: x",
        "Content-Type: multipart/mixed; boundary=c",
        "",
        "--b",
        "",
        "Hello there,",
        "this is the text",
        "",
        "Bye",
        "--b--"
      )
    ],
    [
      "a boundary behind a forgotten semicolon",
      message(
        "Subject: x",
        "Content-Type: multipart/mixed boundary=b",
        "",
        "--b",
        "",
        "Hello there,",
        "this is the text",
        "",
        "Bye",
        "--b--"
      )
    ],
    [
      "a boundary of raw bytes",
      message(
        "Subject: x",
        'Content-Type: multipart/mixed; boundary="gr\xfc\xdfe"',
        "",
        "--gr\xfc\xdfe",
        "",
        "Hello there,",
        "this is the text",
        "",
        "Bye",
        "--gr\xfc\xdfe--"
      )
    ],
    [
      "a text type with the parts of a multipart",
      message(
        "Subject: x",
        "Content-Type: text/plain; boundary=b",
        "",
        "--b",
        "",
        "Hello there,",
        "this is the text",
        "",
        "Bye",
        "--b--"
      )
    ],
    [
      "an unterminated inner multipart",
      mixed(
        "--b",
        "Content-Type: multipart/alternative; boundary=i",
        "",
        "--i",
        "",
        "Hello there,",
        "this is the text",
        "",
        "Bye"
      )
    ],
    [
      "an unknown transfer encoding",
      message("Subject: x", "Content-Transfer-Encoding: 8bits", "", "Hello there,", "this is the text", "", "Bye")
    ],
    [
      "a text falsely declared as base64",
      message("Subject: x", "Content-Transfer-Encoding: base64", "", "Hello there,", "this is the text", "", "Bye")
    ]
  ] as const)("is parsed by its apparent intent: %s", ([, bytes]) => {
    const { attachments, parse, subject, text } = Mime.read(bytes)
    assert.deepStrictEqual(
      { attachments, parse, subject, text: text.trimEnd() },
      {
        attachments: [],
        parse: "full",
        subject: "x",
        text: "Hello there,\nthis is the text\n\nBye"
      }
    )
  })

  it.for([
    ["quoted-printable", "50=25 of =C3=A4=ZZ and a =\r\nsoft break=", "50% of ä=ZZ and a soft break"],
    ["base64", "SGVsbG8=SGVsbG8\r\n =", "HelloHello"],
    [
      "base64",
      "SGVsbG8gdGhlcmUh\r\n____________\r\nlist footer, as it is",
      "Hello there!____________\nlist footer, as it is"
    ],
    ["x-uuencode", "begin 644 a.txt\r\n%2&5L;&\\`\r\n`\r\nend\r\n", "Hello"]
  ] as const)("is decoded as far as possible: %s of %j", ([encoding, body, text]) => {
    const contents = Mime.read(message(`Content-Transfer-Encoding: ${encoding}`, "", body))
    assert.strictEqual(contents.text.trimEnd(), text)
  })

  it("becomes text if readable and else an attachment", () => {
    const contents = Mime.read(mixed(...part("Content-Type: application-x-gzip", "", "\x1f\x8b\0\0")))
    assert.strictEqual(contents.text, "")
    assert.deepInclude(contents.attachments[0], { contentType: "application/octet-stream", size: 4 })
  })

  it("yields a file from uuencode in the middle of a text", () => {
    const bytes = message("", "see:", "begin 644 ../a b.txt", "%2&5L;&\\`", "`", "end", "bye", "begin 644 no", "text")
    const contents = Mime.read(bytes)
    assert.strictEqual(contents.text, "see:\nbye\nbegin 644 no\ntext")
    assert.deepInclude(contents.attachments[0], { filename: "a b.txt", size: 5 })
    const file = Mime.attachment(bytes, 0)
    assert.strictEqual(Buffer.from(file?.content ?? []).toString(), "Hello")
  })

  it.for([
    ["nothing said", "", "Gr\xc3\xbc\xc3\x9fe", "Grüße"],
    ["nothing said", "", "Gr\xfc\xdfe \x80", "Grüße €"],
    ["us-ascii", "; charset=us-ascii", "Gr\xfc\xdfe", "Grüße"],
    ["utf-8", "; charset=utf-8", "Gr\xfc\xdfe", "Grüße"],
    ["utf-8", "; charset=utf-8", "Gr\xc3\xbc\xc3\x9fe \x93", "Grüße “"],
    ["utf-8", "; charset=utf-8", "Gr\xc3\xbc\xc3\x9fe \xe4\xb8", "Grüße \ufffd"],
    ["euc-kr", "; charset=euc-kr", "\xe2\x82\xac!", "€!"],
    ["x-nobody-knows", "; charset=x-nobody-knows", "Gr\xfc\xdfe", "Grüße"],
    ["iso-8859-1", "; charset=iso-8859-1", "\x93hi\x94", "“hi”"],
    ["utf-8", "; charset=utf-8", "\xef\xbb\xbfhi", "hi"],
    ["utf-8", "; charset=utf-8", "\xff\xfeh\0i\0", "hi"],
    ["iso-2022-kr", "; charset=iso-2022-kr", "\u001b$)C\u000e>H3g\u000f hi", "안녕 hi"],
    ["hz-gb-2312", "; charset=hz-gb-2312", "~{Dc:C~} hi ~~", "你好 hi ~"],
    ["x-mac-cyrillic", "; charset=x-mac-cyrillic", "\x8f\xf0\xe8\xe2\xe5\xf2", "Привет"],
    ["utf-7", "; charset=utf-7", "Hi +Jjo-", "Hi ☺"],
    ["no semicolon", " charset=koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"]
  ] as const)("is decoded in the only valid charset, with %s: %s of %j", ([, charset, raw, text]) => {
    const contents = Mime.read(message(`Content-Type: text/plain${charset}`, "", raw))
    assert.strictEqual(contents.text, text)
  })

  it("uses the charset in the HTML itself if no header has one", () => {
    const html = '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>\xf0\xd2\xc9\xd7\xc5\xd4'
    const contents = Mime.read(message("Content-Type: text/html", "", html))
    assert.strictEqual(contents.text, "Привет")
  })

  it.for(["utf-16", "UTF-16LE", "ucs-2"])("reads HTML as UTF-8 if its own charset is %s", (charset) => {
    const html = `<meta http-equiv="Content-Type" content="text/html; charset=${charset}"><p>Gr\xc3\xbc\xc3\x9fe</p>`
    const contents = Mime.read(message("Content-Type: text/html", "", html))
    assert.strictEqual(contents.text, "Grüße")
  })
})
