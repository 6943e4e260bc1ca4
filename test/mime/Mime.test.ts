import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import { message } from "./Message.ts"

const utf8 = (...lines: ReadonlyArray<string>) => Buffer.from(lines.join("\r\n"))
const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}.eml`, import.meta.url))

/** Without the content that is extracted from the HTML later. */
const told = ({
  authors: _a,
  extracted: _e,
  kind: _k,
  match: _m,
  seen: _s,
  sender: _f,
  visible: _v,
  ...contents
}: Mime.Contents) => contents

const empty: Omit<Mime.Contents, "authors" | "seen" | "extracted" | "kind" | "match" | "sender" | "visible"> = {
  message_id: null,
  from: null,
  fromName: null,
  subject: "",
  text: "",
  html: null,
  attachments: [],
  headers: [],
  to: [],
  cc: [],
  replyTo: [],
  inReplyTo: null,
  references: [],
  parse: "full"
}

describe("The content of a message", () => {
  it("is complete for one that uses many MIME features", () => {
    const { headers, ...contents } = told(Mime.read(fixture("forwarded")))
    assert.deepStrictEqual(contents, {
      message_id: "<forward-1@sender.example>",
      from: "ada@sender.example",
      fromName: "Ada",
      subject: "Fwd: plans",
      text: "Zum Gruß",
      html: '<p>Hello <img src="cid:logo@sender.example"></p>',
      attachments: [
        {
          filename: "logo.png",
          contentType: "image/png",
          size: 8,
          contentId: "<logo@sender.example>",
          disposition: "inline",
          index: 0
        },
        {
          filename: "Übersicht.pdf",
          contentType: "application/pdf",
          size: 9,
          contentId: null,
          disposition: "attachment",
          index: 1
        },
        {
          filename: null,
          contentType: "message/rfc822",
          size: 75,
          contentId: null,
          disposition: "attachment",
          index: 2
        },
        {
          filename: null,
          contentType: "application/octet-stream",
          size: 6,
          contentId: null,
          disposition: null,
          index: 3
        }
      ],
      to: [
        { name: "Bob", address: "bob@example.test" },
        { name: "", address: "carl@example.test" }
      ],
      cc: [{ name: "Müller, Jörg", address: "joerg@example.test" }],
      replyTo: [{ name: "", address: "replies@sender.example" }],
      inReplyTo: "<root@sender.example>",
      references: ["<root@sender.example>", "<middle@sender.example>"],
      parse: "full"
    })
    assert.deepStrictEqual(headers.slice(-3), [
      { name: "References", value: "<root@sender.example> <middle@sender.example>" },
      { name: "MIME-Version", value: "1.0" },
      { name: "Content-Type", value: 'multipart/mixed; boundary="outer"' }
    ])
  })

  it("is empty or null if absent", () => {
    assert.deepStrictEqual(told(Mime.read(new Uint8Array())), empty)
    assert.deepStrictEqual(told(Mime.read(message("", "body"))), { ...empty, text: "body" })
  })

  it("has an empty subject and no message_id if those fields are empty", () => {
    const contents = Mime.read(message("Subject:", "Message-ID: ", "From:", "", "body"))
    assert.deepInclude(contents, { subject: "", message_id: null, from: null, text: "body" })
  })

  it("has each message id of References, also without white space between two", () => {
    const contents = Mime.read(message("References: <a@x.example><b@x.example>\r\n\t<c@x.example>", "", "body"))
    assert.deepStrictEqual(contents.references, ["<a@x.example>", "<b@x.example>", "<c@x.example>"])
  })

  it("is identical to the byte on every run", () => {
    for (const name of ["forwarded", "newsletter", "iso-2022-jp", "padded-boundaries"]) {
      const once = JSON.stringify(Mime.read(fixture(name)))
      assert.strictEqual(JSON.stringify(Mime.read(fixture(name))), once)
    }
    const undated = message("Date: yesterday", "Subject: x", "", "body")
    assert.strictEqual(JSON.stringify(Mime.read(undated)), JSON.stringify(Mime.read(undated)))
  })
})

describe("The text", () => {
  it("is derived from the HTML without a plain part", () => {
    const contents = Mime.read(fixture("newsletter"))
    assert.strictEqual(contents.subject, "Neues aus dem Café")
    assert.strictEqual(
      contents.text,
      [
        "Neues aus dem Café",
        "",
        "Liebe Gäste,",
        "ab Montag gibt es zwei Sorten:",
        "",
        "- Espresso",
        "- Filter",
        "",
        "Espresso 2,40 €",
        "Filter 3,10 €",
        "",
        "Mehr auf unserer Karte [https://sender.example/menu]."
      ].join("\n")
    )
    assert.match(contents.html ?? "", /^<!DOCTYPE html>\n<html>[\s\S]*<script>alert/)
  })

  it("is derived from the HTML if the plain part is blank", () => {
    const contents = Mime.read(
      message(
        "Content-Type: multipart/alternative; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        " ",
        "--b",
        "Content-Type: text/html",
        "",
        "<p>Hi</p>",
        "--b--"
      )
    )
    assert.strictEqual(contents.text, "Hi")
  })

  it("is the plain part if there is one, and the HTML is unchanged", () => {
    const html = '<p onclick="x()">Hello <img src="cid:none"> https://example.com &amp; more</p>'
    const contents = Mime.read(
      message(
        "Content-Type: multipart/alternative; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        "plain https://example.com",
        "--b",
        "Content-Type: text/html",
        "",
        html,
        "--b--"
      )
    )
    assert.strictEqual(contents.text, "plain https://example.com")
    assert.strictEqual(contents.html, html)
  })

  it.for([
    ["utf-8", "Gr\xc3\xbc\xc3\x9fe, \xe4\xb8\x96\xe7\x95\x8c", "Grüße, 世界"],
    ["iso-8859-1", "Gr\xfc\xdfe", "Grüße"],
    ["windows-1252", "\x80 \x93hi\x94", "€ “hi”"],
    ["iso-2022-jp", "\x1b$BF|K\\8l\x1b(B", "日本語"],
    ["Shift_JIS", "\x93\xfa\x96\x7b\x8c\xea", "日本語"],
    ["EUC-JP", "\xc6\xfc\xcb\xdc\xb8\xec", "日本語"],
    ["gb18030", "\xc4\xe3\xba\xc3", "你好"],
    ["GB2312", "\xc4\xe3\xba\xc3", "你好"],
    ["big5", "\xa7\x41\xa6\x6e", "你好"],
    ["euc-kr", "\xc7\xd1\xb1\xb9", "한국"],
    ["koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"],
    ["windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"],
    ["iso-8859-15", "\xa4", "€"],
    ["utf-16le", "h\0i\0", "hi"],
    ["us-ascii", "plain", "plain"]
  ] as const)("is decoded from %s", ([charset, bytes, text]) => {
    const contents = Mime.read(message(`Content-Type: text/plain; charset=${charset}`, "", bytes))
    assert.strictEqual(contents.text, text)
  })

  it("is decoded as far as possible in an unknown charset", () => {
    const contents = Mime.read(message("Content-Type: text/plain; charset=x-nobody-knows", "", "abc\x80"))
    assert.match(contents.text, /^abc/)
    assert.strictEqual(contents.parse, "full")
  })

  it.for([
    ["quoted-printable", "Gr=C3=BC=C3=9Fe =\r\nzusammen", "Grüße zusammen"],
    ["base64", "R3LDvMOf\r\nZQ==", "Grüße"],
    ["8bit", "Gr\xc3\xbc\xc3\x9fe", "Grüße"],
    ["quoted-printable", "broken =ZZ =", "broken =ZZ "],
    ["base64", "R3LDv!!!MOfZQ", "Grüße"],
    ["x-unknown", "as it is", "as it is"]
  ] as const)("is decoded from valid and broken %s", ([encoding, body, text]) => {
    const contents = Mime.read(
      message("Content-Type: text/plain; charset=utf-8", `Content-Transfer-Encoding: ${encoding}`, "", body)
    )
    assert.strictEqual(contents.text, text)
  })

  it.each(["Hi", "<b>Paid</b>", "<html><head></head><body><p><b>x</b></p></body></html>"])(
    "contains a short HTML part after a long one (%s)",
    (html) => {
      const part = (content: string) => ["--b", "Content-Type: text/html", "", content]
      const contents = Mime.read(
        message(
          "Content-Type: multipart/mixed; boundary=b",
          "",
          ...part(`<!doctype html>${'<p style="color:navy">long</p>'.repeat(10_000)}`),
          ...part(html),
          "--b--"
        )
      )
      assert.include(contents.text, html.replace(/<[^>]*>/g, ""))
    }
  )

  it("contains no NUL and no lone surrogate, like every other field", () => {
    const contents = Mime.read(
      message(
        'From: "a\0b" <x@a.example>',
        "Subject: a\0b =?utf-8?Q?c=00d=0D=0Ae?= =?utf-16be?B?2AA=?=",
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain; charset=utf-16be",
        "",
        "\xd8\x00\x00a\x00\x00",
        "--b",
        'Content-Type: application/x; name="=?utf-8?Q?n=00a=0Am=0De?="',
        "Content-Disposition: attachment",
        "Content-ID: <\0id>",
        "",
        "x",
        "--b--"
      )
    )
    assert.isTrue(JSON.stringify(contents).isWellFormed())
    assert.notInclude(JSON.stringify(contents), "\\u0000")
    assert.notMatch(JSON.stringify(contents), /\\ud[89a-f]/i)
    assert.match(contents.subject, /^ab cd e/)
    assert.strictEqual(contents.attachments[0]?.filename, "na m e")
  })
})

describe("The header", () => {
  it("is decoded as raw UTF-8, and else as windows-1252", () => {
    const modern = Mime.read(
      utf8("From: Jörg <jörg@sender.example>", "To: 用户 <u@a.example>", "Subject: Grüße 世界", "", "")
    )
    assert.deepInclude(modern, {
      from: "jörg@sender.example",
      to: [{ name: "用户", address: "u@a.example" }],
      subject: "Grüße 世界"
    })
    const old = Mime.read(
      message("From: x@a.example", "To: J\xf6rg <j@a.example>", "Subject: Gr\xfc\xdfe \x80", "", "")
    )
    assert.deepInclude(old, { subject: "Grüße €", to: [{ name: "Jörg", address: "j@a.example" }] })
    assert.deepInclude(old.headers, { name: "Subject", value: "Grüße €" })
  })

  it("uses the first of repeated single fields and all recipients, and lists all fields", () => {
    const contents = Mime.read(
      message(
        "From: First <first@a.example>",
        "From: Second <second@b.example>",
        "Subject: one",
        "SUBJECT: two",
        "Message-ID: <1@a.example>",
        "Message-Id: <2@a.example>",
        "To: a@a.example",
        "To: b@b.example",
        "Reply-To: c@c.example",
        "Reply-To: d@d.example",
        "In-Reply-To: <3@a.example>",
        "In-Reply-To: <4@a.example>",
        "Content-Type: text/plain",
        "Content-Type: text/html",
        "",
        "<p>x"
      )
    )
    assert.deepInclude(contents, {
      from: "first@a.example",
      subject: "one",
      message_id: "<1@a.example>",
      to: [
        { name: "", address: "a@a.example" },
        { name: "", address: "b@b.example" }
      ],
      replyTo: [
        { name: "", address: "c@c.example" },
        { name: "", address: "d@d.example" }
      ],
      inReplyTo: "<3@a.example>",
      text: "<p>x",
      html: null
    })
    assert.strictEqual(contents.headers.length, 14)
  })

  it.for([
    ["Ada <ada@a.example>", "ada@a.example"],
    ["ada@a.example", "ada@a.example"],
    ['"Ada, the first" <ada@a.example>', "ada@a.example"],
    ["=?utf-8?Q?boss=40victim.example?= <real@a.example>", "real@a.example"],
    ['"boss@victim.example" <real@a.example>', "real@a.example"],
    ["one@a.example, two@A.example", "one@a.example"],
    ["one@a.example, two@b.example", null],
    ["Group: ada@a.example, bob@b.example;", null],
    ["ada@a.example, bob@b.example@a.example", null],
    ["Group: ada@a.example, bob@a.example;", "ada@a.example"],
    ["ada@a.example (Ada)", "ada@a.example"],
    ["real@a.example (a comment (and one in it) <boss@victim.example>)", "real@a.example"],
    ["(boss@victim.example) real@a.example", "real@a.example"],
    ['"ada lovelace"@a.example', '"ada lovelace"@a.example'],
    ["ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
    ["Ada\r\n <ada@a.example>", "ada@a.example"],
    ["nobody here", null],
    ["undisclosed:;", null],
    ["=?utf-8?Q?boss=40victim.example?=", null],
    ["=?utf-8?B?Q0VPIDxjZW9AdmljdGltLmV4YW1wbGU+?=", null],
    ["ada@a.example@b.example", null],
    ["<>", null],
    ["", null]
  ] as const)("of From: %j gives the address %j", ([field, address]) => {
    const contents = Mime.read(message(`From: ${field}`, "", ""))
    assert.strictEqual(contents.from, address)
  })

  it("of 1 MB does not prevent parsing of the body", () => {
    const contents = Mime.read(message("Subject: large", `X-Large: ${"x".repeat(1_100_000)}`, "", "body"))
    assert.deepInclude(contents, { subject: "large", text: "body", parse: "full" })
  })

  it("is listed in order and decoded, up to 64 KiB", () => {
    const many = Array.from(
      { length: 3_000 },
      (_, number) => `X-${number}: =?utf-8?Q?=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4?= tail`
    )
    const contents = Mime.read(message("Subject: bounded", ...many, "", "body"))
    assert.deepStrictEqual(contents.headers.slice(0, 2), [
      { name: "Subject", value: "bounded" },
      { name: "X-0", value: "ääääää tail" }
    ])
    const bytes = contents.headers.reduce((sum, { name, value }) => sum + Buffer.byteLength(name + value), 0)
    assert.isAtMost(bytes, 64 * 1024)
    assert.isAbove(bytes, 63 * 1024)
    assert.strictEqual(contents.text, "body")
  })

  it("is limited to 1,000 addresses and references in a field", () => {
    const contents = Mime.read(
      message(
        `To: ${"a@a.example, ".repeat(5_000)}last@a.example`,
        `Cc: g: ${"a@a.example, ".repeat(5_000)}last@a.example;`,
        `References: ${"<a@a.example> ".repeat(5_000)}`,
        "",
        ""
      )
    )
    assert.strictEqual(contents.to.length, 1_000)
    assert.strictEqual(contents.cc.length, 1_000)
    assert.strictEqual(contents.references.length, 1_000)
  })
})

describe("Attachments", () => {
  const attached = (...lines: ReadonlyArray<string>) =>
    message("Content-Type: multipart/mixed; boundary=b", "", "--b", ...lines, "", "content", "--b--", "")

  it.for([
    ['attachment; filename="report.pdf"', "report.pdf"],
    ["attachment; filename=report.pdf", "report.pdf"],
    ["attachment; filename*=utf-8''%e2%82%ac%20rates.txt", "€ rates.txt"],
    ['attachment; filename="=?utf-8?B?w5xiZXJzaWNodC5wZGY=?="', "Übersicht.pdf"],
    ['attachment; filename="../../etc/passwd"', "passwd"],
    ['attachment; filename="C:\\\\temp\\\\x.txt"', "x.txt"],
    ["attachment; filename=plain.txt; filename*=utf-8''%e2%82%ac.txt", "€.txt"],
    ["attachment; filename*0*=utf-8''%c3%bc; filename*1=bung; filename*2=.pdf", "übung.pdf"],
    ['attachment; filename="=?utf-8?Q?=C3=BCbung=2Epdf?="', "übung.pdf"],
    ['attachment; filename="\xc3\xbcbung.pdf"', "übung.pdf"],
    ['attachment; filename="\xfcbung.pdf"', "übung.pdf"],
    ["attachment; filename=my report.pdf", "my report.pdf"],
    ['attachment; filename="1234/../../1234.txt"', "1234.txt"],
    ['attachment; filename="a\r\n b.txt"', "a b.txt"],
    ['attachment; filename="=?utf-8?Q?a=0D=0AX=3A_y.txt?="', "a X: y.txt"],
    ["attachment; filename*=utf-8''cod%e2%80%aegpj.exe", "codgpj.exe"],
    ["attachment; filename*=utf-8''a%00b%1b%7f.txt", "ab.txt"],
    [`attachment; filename="${"n".repeat(300)}.pdf"`, `${"n".repeat(251)}.pdf`],
    [`attachment; filename*=utf-8''${"%c3%bc".repeat(200)}.pdf`, `${"ü".repeat(125)}.pdf`],
    ['attachment; filename=".."', null],
    ['attachment; filename="folder/"', null],
    ['attachment; filename=""', null],
    ["attachment", null]
  ] as const)("with Content-Disposition %j have the file name %j", ([disposition, filename]) => {
    const contents = Mime.read(
      attached("Content-Type: application/octet-stream", `Content-Disposition: ${disposition}`)
    )
    assert.deepInclude(contents.attachments[0], { filename, size: 7, disposition: "attachment" })
  })

  it("have indexes from zero with matching bytes", () => {
    const raw = fixture("forwarded")
    const { attachments } = Mime.read(raw)
    assert.deepStrictEqual(
      attachments.map(({ index }) => index),
      [0, 1, 2, 3]
    )
    for (const listed of attachments) {
      const part = Mime.attachment(raw, listed.index)
      assert.strictEqual(part?.content.byteLength, listed.size)
      assert.strictEqual(part?.filename, listed.filename)
      assert.strictEqual(part?.contentType, listed.contentType)
    }
    assert.deepStrictEqual([...(Mime.attachment(raw, 3)?.content ?? [])], [0, 1, 2, 3, 4, 5])
    assert.isUndefined(Mime.attachment(raw, 4))
  })

  it("are found after boundary lines with trailing whitespace (RFC 2046, section 5.1.1)", () => {
    const { attachments, text } = Mime.read(fixture("padded-boundaries"))
    assert.strictEqual(text, "visible text\n--not a boundary  \n-- \nthe signature")
    assert.strictEqual(attachments.length, 1)
    assert.deepInclude(attachments[0], { filename: "table.csv", contentType: "text/csv", size: 5 })
  })

  it("are returned as far as received in a truncated message", () => {
    const contents = Mime.read(
      message(
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain",
        "",
        "hello",
        "--b",
        "Content-Type: application/pdf",
        "Content-Transfer-Encoding: base64",
        "",
        "JVBERi0x"
      )
    )
    assert.strictEqual(contents.text, "hello")
    assert.deepInclude(contents.attachments[0], { contentType: "application/pdf", size: 6 })
  })

  it.for(["text plain", "application-x-gzip", "", "/", ";;;"])(
    "or text contain the body of Content-Type %j",
    (type) => {
      const { attachments, text } = Mime.read(message(`Content-Type: ${type}`, "", "content"))
      assert.isTrue(text === "content" || attachments[0]?.size === 7)
    }
  )
})
