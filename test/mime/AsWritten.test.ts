import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import { message } from "./Message.ts"

type Answer = Partial<Pick<Mime.Contents, "from" | "subject" | "text" | "to" | "cc" | "replyTo" | "parse">> & {
  /** Name and content of each attachment. */
  readonly files?: ReadonlyArray<readonly [string | null, string]>
}

type Case = readonly [name: string, lines: ReadonlyArray<string>, answer: Answer]

/** Texts are compared exactly, whitespace included. */
const read = (cases: ReadonlyArray<Case>) =>
  it.for(cases)("%s", ([, lines, { files, ...answer }]) => {
    const bytes = message(...lines)
    const contents = Mime.read(bytes)
    assert.deepInclude(contents, { parse: "full", ...answer })
    if (files === undefined) return
    assert.deepStrictEqual(
      contents.attachments.map(({ filename, index }) => [
        filename,
        Buffer.from(Mime.attachment(bytes, index)?.content ?? []).toString("latin1")
      ]),
      files.map((file) => [...file])
    )
  })

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex").toString("latin1")

const flowed = ["Content-Type: text/plain; charset=utf-8; format=flowed", ""]
const delSp = ["Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes", ""]

describe("A text in format=flowed (RFC 3676)", () => {
  read([
    ["joins the lines of a paragraph", [...flowed, "one ", "two ", "three", "four"], { text: "one two three\nfour" }],
    ["separates a reply from the quotation above", [...flowed, "> Hi ", "Hello"], { text: "> Hi \nHello" }],
    ["separates a quotation from the reply above", [...flowed, "Hello ", "> Hi"], { text: "Hello \n> Hi" }],
    [
      "joins lines of one quote depth under one mark",
      [...flowed, "> one ", "> two", ">> old ", ">> older", "> three"],
      { text: "> one two\n>> old older\n> three" }
    ],
    [
      "does not join lines of two quote depths",
      [...flowed, ">> old ", "> new ", "mine"],
      { text: ">> old \n> new \nmine" }
    ],
    ["ends a paragraph at an empty line", [...flowed, "one ", "", "two"], { text: "one \n\ntwo" }],
    [
      "ends a quoted paragraph at an empty line of the quotation",
      [...flowed, "> one ", ">", "> two"],
      { text: "> one \n>\n> two" }
    ],
    [
      "joins nothing to the signature separator",
      [...flowed, "so long ", "-- ", "Ada ", "Lovelace"],
      { text: "so long \n-- \nAda Lovelace" }
    ],
    [
      "keeps the separator of a quoted signature",
      [...flowed, "> so long ", "> -- ", "> Ada"],
      { text: "> so long \n> -- \n> Ada" }
    ],
    [
      "removes space-stuffing",
      [...flowed, " From here", " > no quotation", "  indented"],
      { text: "From here\n> no quotation\n indented" }
    ],
    ["joins space-stuffed lines", [...flowed, "one ", " From two"], { text: "one From two" }],
    ["keeps a line of spaces", [...flowed, "one", "   ", "two"], { text: "one\n  two" }],
    ["joins words split under DelSp=yes", [...delSp, "Donau ", "dampf  ", "schiff"], { text: "Donaudampf schiff" }],
    [
      "joins quoted words split under DelSp=yes",
      [...delSp, "> Donau ", "> dampf", "neu"],
      { text: "> Donaudampf\nneu" }
    ],
    ["keeps its line endings", [...flowed, "one ", "two", "", ""], { text: "one two\n\n" }],
    [
      "is not assumed without the parameter",
      ["Content-Type: text/plain", "", "one ", "two", " three"],
      { text: "one \ntwo\n three" }
    ]
  ])
})

describe("Raw bytes in a header", () => {
  const inCharset = (charset: string, ...fields: ReadonlyArray<string>) => [
    ...fields,
    `Content-Type: text/plain; charset=${charset}`,
    "",
    "x"
  ]
  const privet = bytes("f0d2c9d7c5d4")
  read([
    [
      "are decoded in the charset of the text: koi8-r",
      inCharset("koi8-r", `Subject: ${privet}`),
      { subject: "Привет" }
    ],
    [
      "are in the charset of the text: euc-kr",
      inCharset("euc-kr", `Subject: [${bytes("c7d1b1b9")}] news`),
      { subject: "[한국] news" }
    ],
    [
      "are in the charset of the text: gb2312",
      inCharset("gb2312", `Subject: ${bytes("c4e3bac3")}`),
      { subject: "你好" }
    ],
    [
      "are decoded in the charset of the text: big5",
      inCharset("big5", `Subject: ${bytes("a741a66e")}`),
      { subject: "你好" }
    ],
    [
      "are decoded in the charset of the text in display names",
      inCharset("windows-1251", `To: ${bytes("c8e2e0ed")} <i@a.example>`, `Cc: "${bytes("c8e2e0ed")}" <j@a.example>`),
      { to: [{ name: "Иван", address: "i@a.example" }], cc: [{ name: "Иван", address: "j@a.example" }] }
    ],
    [
      "are decoded in the charset of the first text in file names",
      [
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        `Content-Disposition: attachment; filename="${bytes("c4e3bac3")}.txt"`,
        "",
        "1",
        "--b",
        "Content-Type: text/html",
        "",
        '<meta charset="gb2312"><p>x</p>',
        "--b",
        `Content-Type: application/x; name="${bytes("bac3")}"`,
        "",
        "2",
        "--b--"
      ],
      {
        files: [
          ["你好.txt", "1"],
          ["好", "2"]
        ]
      }
    ],
    [
      "are decoded as UTF-8 if valid, in any charset of the text",
      inCharset("koi8-r", "Subject: Gr\xc3\xbc\xc3\x9fe"),
      { subject: "Grüße" }
    ],
    [
      "are decoded as windows-1252 if invalid in the charset of the text",
      inCharset("gb2312", "Subject: Gr\xfc"),
      { subject: "Grü" }
    ],
    [
      "are decoded as windows-1252 beside a UTF-8 text",
      inCharset("utf-8", "Subject: Gr\xfc\xdfe"),
      { subject: "Grüße" }
    ],
    [
      "are decoded as UTF-8 with one broken byte, beside a single-byte text",
      inCharset("koi8-r", "Subject: Gr\xc3\xbc\xc3\x9fe \xff"),
      { subject: "Grüße ÿ" }
    ]
  ])
})

describe("Recipients", () => {
  read([
    [
      "of several fields are merged, and the first author is used",
      [
        "From: one@a.example",
        "From: two@b.example",
        "To: a@a.example",
        "To: b@a.example",
        "Cc: c@a.example",
        "CC: d@a.example",
        "Reply-To: e@a.example",
        "Reply-To: f@a.example",
        "",
        ""
      ],
      {
        from: "one@a.example",
        to: [
          { name: "", address: "a@a.example" },
          { name: "", address: "b@a.example" }
        ],
        cc: [
          { name: "", address: "c@a.example" },
          { name: "", address: "d@a.example" }
        ],
        replyTo: [
          { name: "", address: "e@a.example" },
          { name: "", address: "f@a.example" }
        ]
      }
    ],
    [
      "without a domain are listed unchanged",
      [
        "To: root, ada@a.example, Ada <ada>, <postmaster>",
        "Cc: undisclosed-recipients:;",
        "Reply-To: nobody at all",
        "",
        ""
      ],
      {
        to: [
          { name: "", address: "root" },
          { name: "", address: "ada@a.example" },
          { name: "Ada", address: "ada" },
          { name: "", address: "postmaster" }
        ],
        cc: [],
        replyTo: [{ name: "nobody at all", address: "" }]
      }
    ],
    [
      "beyond 1,000 make the event partial",
      [`To: ${"a@a.example, ".repeat(600)}a@a.example`, `To: ${"a@a.example, ".repeat(600)}a@a.example`, "", ""],
      { parse: "partial", to: Array.from({ length: 1_000 }, () => ({ name: "", address: "a@a.example" })) }
    ]
  ])
})

describe("An encoding declaration", () => {
  const uuencoded = ["Content-Type: text/plain", "Content-Transfer-Encoding: x-uuencode", ""]
  const base64 = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", ""]
  const zeros = "\0".repeat(45)
  read([
    [
      "of uuencode yields a file with spaces as zeros",
      ["", "see", "begin 644 z", `M${" ".repeat(60)}`, "#86)C", " ", "end", "bye"],
      { text: "see\nbye", files: [["z", `${zeros}abc`]] }
    ],
    [
      "of uuencode yields a file with stripped trailing spaces",
      ["", "see", "begin 644 z", "M", "M", "#", "", "end", "bye"],
      { text: "see\nbye", files: [["z", `${zeros}${zeros}\0\0\0`]] }
    ],
    [
      "of uuencode is ignored for plain words",
      ["", "begin 644 z", "HELLO", "I SAY", "end", "bye"],
      { text: "begin 644 z\nHELLO\nI SAY\nend\nbye", files: [] }
    ],
    [
      "of uuencode keeps other content unchanged",
      [...uuencoded, "plain words", "and more", ""],
      { text: "plain words\nand more\n" }
    ],
    ["of base64 is ignored for plain words", [...base64, "Hello there", ""], { text: "Hello there\n" }],
    [
      "of base64 is ignored for plain words after a single word",
      [...base64, "Hello", "this is a text without any marks", "bye"],
      { text: "Hello\nthis is a text without any marks\nbye" }
    ],
    ["of base64 is ignored for one plain word", [...base64, "Hello,"], { text: "Hello," }],
    ["of base64 ends after the padding", [...base64, "SGVsbG8=", "Bye", "now"], { text: "HelloBye\nnow" }],
    [
      "of base64 continues after padding if more follows",
      [...base64, "SGVsbG8=", "IHlvdQ==", ""],
      { text: "Hello you" }
    ],
    [
      "of base64 yields a file without the footer after it",
      [
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "",
        "see",
        "--b",
        "Content-Type: text/csv; name=a.csv",
        "Content-Disposition: attachment",
        "Content-Transfer-Encoding: base64",
        "",
        "YSxiCg==",
        "_______",
        "the list of lists",
        "--b--"
      ],
      { text: "see", files: [["a.csv", "a,b\n"]] }
    ],
    [
      "of a single-byte charset is ignored for UTF-8",
      ["Content-Type: text/plain; charset=iso-8859-1", "", "Gr\xc3\xbc\xc3\x9fe"],
      { text: "Grüße" }
    ],
    [
      "of a single-byte charset applies if a byte is not UTF-8",
      ["Content-Type: text/plain; charset=iso-8859-1", "", "Gr\xc3\xbc\xc3\x9fe \xfc"],
      { text: "GrÃ¼ÃŸe ü" }
    ],
    [
      "of a single-byte charset applies to a single character",
      ["Content-Type: text/plain; charset=windows-1252", "", "\xc3\xa9"],
      { text: "Ã©" }
    ]
  ])
})

describe("A header that starts with whitespace", () => {
  const received = [" From: Ada <ada@a.example>", "Subject: hi", "", "body"]
  const ours = (recipient: string) => [
    "Return-Path: <ada@a.example>",
    "Received: from client.example ([127.0.0.1])",
    "\tby mx.example with ESMTP id 0190c2f0-0000-7000-8000-000000000000",
    ...(recipient === "" ? [] : [`\tfor <${recipient}>`]),
    ";\r\n\tSun, 22 Nov 2026 13:00:00 +0000"
  ]
  const trace = (recipient: string) => ours(recipient).join("\r\n").replace("\r\n;", ";").split("\r\n")
  read([
    ["is complete as received", received, { from: "ada@a.example", subject: "hi", text: "body" }],
    [
      "is complete after the trace fields",
      [...trace("a@b.example"), ...received],
      { from: "ada@a.example", subject: "hi", text: "body" }
    ],
    [
      "is complete after the trace fields for several recipients, with a tab",
      [...trace(""), "\tFrom: ada@a.example", "Subject: hi", "", "body"],
      { from: "ada@a.example", subject: "hi", text: "body" }
    ],
    [
      "continues a field of another server in front",
      ["Received: from a ([127.0.0.1])", "\tby b; Sun, 22 Nov 2026 13:00:00 +0000", " From: x@a.example", "", "body"],
      { from: null, text: "body" }
    ]
  ])
})
