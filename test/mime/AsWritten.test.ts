import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"
import { message } from "./Message.ts"

type Answer = Partial<Pick<Mime.Contents, "from" | "subject" | "text" | "to" | "cc" | "replyTo" | "parse">> & {
  /** Name and content of each attachment. */
  readonly files?: ReadonlyArray<readonly [string | null, string]>
}

type Case = readonly [name: string, lines: ReadonlyArray<string>, answer: Answer]

/** The answer is right to the blank: texts are compared as they are. */
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
    ["keeps an answer out of the quotation above it", [...flowed, "> Hi ", "Hello"], { text: "> Hi \nHello" }],
    ["keeps a quotation out of the answer above it", [...flowed, "Hello ", "> Hi"], { text: "Hello \n> Hi" }],
    [
      "joins lines of one quote depth, whose mark is shown once",
      [...flowed, "> one ", "> two", ">> old ", ">> older", "> three"],
      { text: "> one two\n>> old older\n> three" }
    ],
    ["joins no lines of two depths", [...flowed, ">> old ", "> new ", "mine"], { text: ">> old \n> new \nmine" }],
    ["ends a paragraph at an empty line", [...flowed, "one ", "", "two"], { text: "one \n\ntwo" }],
    [
      "ends a quoted paragraph at an empty line of the quotation",
      [...flowed, "> one ", ">", "> two"],
      { text: "> one \n>\n> two" }
    ],
    [
      "joins nothing to the line of a signature",
      [...flowed, "so long ", "-- ", "Ada ", "Lovelace"],
      { text: "so long \n-- \nAda Lovelace" }
    ],
    [
      "leaves the line of a quoted signature alone",
      [...flowed, "> so long ", "> -- ", "> Ada"],
      { text: "> so long \n> -- \n> Ada" }
    ],
    [
      "takes off the blank that a line was stuffed with",
      [...flowed, " From here", " > no quotation", "  indented"],
      { text: "From here\n> no quotation\n indented" }
    ],
    ["joins stuffed lines as others", [...flowed, "one ", " From two"], { text: "one From two" }],
    ["keeps a blank line of blanks as it flows", [...flowed, "one", "   ", "two"], { text: "one\n  two" }],
    ["joins words that delsp has cut in two", [...delSp, "Donau ", "dampf  ", "schiff"], { text: "Donaudampf schiff" }],
    ["joins quoted words that delsp has cut", [...delSp, "> Donau ", "> dampf", "neu"], { text: "> Donaudampf\nneu" }],
    ["ends in line ends as it is sent", [...flowed, "one ", "two", "", ""], { text: "one two\n\n" }],
    [
      "is none where it is not said",
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
    ["are in the charset of the text: koi8-r", inCharset("koi8-r", `Subject: ${privet}`), { subject: "Привет" }],
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
    ["are in the charset of the text: big5", inCharset("big5", `Subject: ${bytes("a741a66e")}`), { subject: "你好" }],
    [
      "are in the charset of the text in the names of people",
      inCharset("windows-1251", `To: ${bytes("c8e2e0ed")} <i@a.example>`, `Cc: "${bytes("c8e2e0ed")}" <j@a.example>`),
      { to: [{ name: "Иван", address: "i@a.example" }], cc: [{ name: "Иван", address: "j@a.example" }] }
    ],
    [
      "are in the charset of the first text in the names of files, before it and behind it",
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
      "are UTF-8 where they are that, whatever the text is in",
      inCharset("koi8-r", "Subject: Gr\xc3\xbc\xc3\x9fe"),
      { subject: "Grüße" }
    ],
    [
      "are windows-1252 where they can't be in the charset of the text",
      inCharset("gb2312", "Subject: Gr\xfc"),
      { subject: "Grü" }
    ],
    ["are windows-1252 where the text is UTF-8", inCharset("utf-8", "Subject: Gr\xfc\xdfe"), { subject: "Grüße" }],
    [
      "are one broken byte in UTF-8, though the text is in a charset of one byte",
      inCharset("koi8-r", "Subject: Gr\xc3\xbc\xc3\x9fe \xff"),
      { subject: "Grüße ÿ" }
    ]
  ])
})

describe("Recipients", () => {
  read([
    [
      "of several fields all count, and of several authors the first",
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
      "without a domain are listed as they stand",
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
      "beyond a thousand make the event partial",
      [`To: ${"a@a.example, ".repeat(600)}a@a.example`, `To: ${"a@a.example, ".repeat(600)}a@a.example`, "", ""],
      { parse: "partial", to: Array.from({ length: 1_000 }, () => ({ name: "", address: "a@a.example" })) }
    ]
  ])
})

describe("What says that it is encoded", () => {
  const uuencoded = ["Content-Type: text/plain", "Content-Transfer-Encoding: x-uuencode", ""]
  const base64 = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", ""]
  const zeros = "\0".repeat(45)
  read([
    [
      "is a file in uuencode with blanks for zeros",
      ["", "see", "begin 644 z", `M${" ".repeat(60)}`, "#86)C", " ", "end", "bye"],
      { text: "see\nbye", files: [["z", `${zeros}abc`]] }
    ],
    [
      "is a file in uuencode with blanks for zeros that got lost on the way",
      ["", "see", "begin 644 z", "M", "M", "#", "", "end", "bye"],
      { text: "see\nbye", files: [["z", `${zeros}${zeros}\0\0\0`]] }
    ],
    [
      "is no file where it is words",
      ["", "begin 644 z", "HELLO", "I SAY", "end", "bye"],
      { text: "begin 644 z\nHELLO\nI SAY\nend\nbye", files: [] }
    ],
    [
      "is what it is where it is no uuencode",
      [...uuencoded, "plain words", "and more", ""],
      { text: "plain words\nand more\n" }
    ],
    ["is plain words under the label base64", [...base64, "Hello there", ""], { text: "Hello there\n" }],
    [
      "is plain words under the label base64, with a word alone in front",
      [...base64, "Hello", "this is a text without any marks", "bye"],
      { text: "Hello\nthis is a text without any marks\nbye" }
    ],
    ["is one plain word under the label base64", [...base64, "Hello,"], { text: "Hello," }],
    ["ends behind the padding of base64", [...base64, "SGVsbG8=", "Bye", "now"], { text: "HelloBye\nnow" }],
    ["goes on behind padding where that is base64", [...base64, "SGVsbG8=", "IHlvdQ==", ""], { text: "Hello you" }],
    [
      "is a file without the footer behind it",
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
      "is UTF-8 under the label of one byte",
      ["Content-Type: text/plain; charset=iso-8859-1", "", "Gr\xc3\xbc\xc3\x9fe"],
      { text: "Grüße" }
    ],
    [
      "is what its label says with a byte that is not UTF-8",
      ["Content-Type: text/plain; charset=iso-8859-1", "", "Gr\xc3\xbc\xc3\x9fe \xfc"],
      { text: "GrÃ¼ÃŸe ü" }
    ],
    [
      "is what its label says with one character alone",
      ["Content-Type: text/plain; charset=windows-1252", "", "\xc3\xa9"],
      { text: "Ã©" }
    ]
  ])
})

describe("A header that begins with a blank", () => {
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
    ["is whole as it came", received, { from: "ada@a.example", subject: "hi", text: "body" }],
    [
      "is whole behind our own fields",
      [...trace("a@b.example"), ...received],
      { from: "ada@a.example", subject: "hi", text: "body" }
    ],
    [
      "is whole behind our own fields for several recipients, with a tab",
      [...trace(""), "\tFrom: ada@a.example", "Subject: hi", "", "body"],
      { from: "ada@a.example", subject: "hi", text: "body" }
    ],
    [
      "goes on with a field of another server that stands in front",
      ["Received: from a ([127.0.0.1])", "\tby b; Sun, 22 Nov 2026 13:00:00 +0000", " From: x@a.example", "", "body"],
      { from: null, text: "body" }
    ]
  ])
})
