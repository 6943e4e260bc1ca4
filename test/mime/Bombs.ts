import { type Bomb, bomb, header, mebibyte } from "./Bomb.ts"
import { costBombs } from "./CostBombs.ts"

/** `before`, `piece` repeated up to the limit, and `after`. Every character is one byte. */
const filled = (before: string, piece: string, after = "") =>
  Buffer.from(
    before + piece.repeat(Math.floor((mebibyte - before.length - after.length) / piece.length)) + after,
    "latin1"
  )

const html = (piece: string, after = "") =>
  bomb(`HTML of ${piece}`, () =>
    filled(
      `${header(`html ${piece}`)}MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n`,
      piece,
      after
    )
  )

/** A field with this name, a start and a repeated piece. */
const field = (name: string, piece: string, start = "") =>
  bomb(`${name}: ${JSON.stringify(start + piece)}`, () =>
    filled(
      name === "From" || name === "Subject"
        ? `Message-ID: <bomb-${name}@sender.example>\r\n${name}: ${start}`
        : `${header(`${name} ${start}${piece}`.replace(/[^ -~]/g, ""))}${name}: ${start}`,
      piece,
      "\r\n\r\nbody\r\n"
    )
  )

const charset = (name: string, piece: string) =>
  bomb(`${name} text`, () => filled(`${header(name)}Content-Type: text/plain; charset=${name}\r\n\r\n`, piece))

const body = (name: string, type: string, piece: string, start = "", after = "") =>
  bomb(name, () => filled(`${header(name)}MIME-Version: 1.0\r\n${type}\r\n\r\n${start}`, piece, after))

const manyParts = (name: string, part: string) =>
  body(name, "Content-Type: multipart/mixed; boundary=b", `--b\r\n${part}\r\n`, "", "--b--\r\n")

/** Nested multiparts with different boundaries, and a text inside. */
export const nestedMultiparts = (depth: number) => {
  const parts = [`${header(`nested ${depth}`)}MIME-Version: 1.0\r\n`]
  for (let level = 0; level < depth; level++) {
    parts.push(`Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`)
  }
  parts.push("Content-Type: text/plain\r\n\r\nat the bottom\r\n")
  for (let level = depth - 1; level >= 0; level--) parts.push(`--b${level}--\r\n`)
  return Buffer.from(parts.join(""))
}

/** Nested messages. */
export const nestedMessages = (depth: number, type = "message/rfc822") =>
  Buffer.from(
    `${header(`messages ${depth}`)}${`Content-Type: ${type}\r\n\r\n`.repeat(depth)}Subject: innermost\r\n\r\nat the bottom\r\n`
  )

export const htmlBombs: ReadonlyArray<Bomb> = [
  html("<b>"),
  html("<div>"),
  html("<span>"),
  html("<font>"),
  html("<h1>"),
  html("<ul><li>"),
  html("<table><tr><td>"),
  html("<blockquote>"),
  html("<a href=x>"),
  html("<p></span>"),
  html("<img src=cid:x>"),
  html("<!--"),
  html("<"),
  html("&"),
  html("&amp;"),
  html("<svg><style>"),
  html('<div style="color:#123456;font:bold 12px/2 serif">x</div>'),
  html("<a href=https://example.com/>x</a>"),
  html("<style>.a{color:red}</style>"),
  html("<style>.a{color:red}</style><p class=a>x"),
  html("<style>"),
  html("<p><b id=1>x<p><b id=2>x"),
  html("&shy;x"),
  html("<i style=--a:var(--a);color:var(--a)>x"),
  bomb("20,000 nested tags", () =>
    Buffer.from(`${header("nested tags")}Content-Type: text/html\r\n\r\n${"<div>".repeat(20_000)}x`)
  ),
  bomb("styles that are all different", () => {
    const divs = Array.from({ length: 18_000 }, (_, at) => `<div style="color:#${100_000 + at};width:${at}px">x</div>`)
    return Buffer.from(`${header("styles")}Content-Type: text/html\r\n\r\n${divs.join("")}`).subarray(0, mebibyte)
  }),
  ...["@media all{", "{", "/*", "a{b:c;", '"', ".a .b .c p{color:red}", ".a:not(.b)>*{color:red}", "p,"].map((piece) =>
    bomb(`style sheet of ${piece}`, () => {
      const type = `${header(`sheet ${piece.replace(/\W/g, "")}`)}Content-Type: text/html\r\n\r\n`
      const elements = `</style>${'<div class="a b c">'.repeat(400)}${"<p class=x>x</p>".repeat(20_000)}`
      return filled(`${type}<style>`, piece, elements)
    })
  )
]

export const headerBombs: ReadonlyArray<Bomb> = [
  field("X-Folded", "\r\n ", "a"),
  field("X-Folded-Blanks", " \r\n ", "a"),
  field("From", "a@sender.example,\r\n "),
  field("Subject", "a\r\n "),
  field("References", "<a@sender.example>\r\n "),
  field("X-Long", "x"),
  bomb("X-Returns: carriage returns before a letter", () =>
    filled(`${header("returns")}X-Returns: a`, "\r", "x\r\n\r\nbody\r\n")
  ),
  bomb("a field for every six bytes", () => filled(header("fields"), "X: a\r\n", "\r\nbody\r\n"))
]

export const wordBombs: ReadonlyArray<Bomb> = [
  field("Subject", "=?utf-8?Q?a?= "),
  field("Subject", "=?utf-8?Q?a"),
  field("Subject", "=?"),
  field("Subject", "=?utf-7?Q?+AGE-?= "),
  field("Subject", "=?iso-2022-jp?B?GyRCRnwbKEI=?= ")
]

export const charsetBombs: ReadonlyArray<Bomb> = [
  charset("utf-7", "+AGE-"),
  charset("utf-7", "+"),
  charset("iso-2022-jp", "\u001b$B\u001b(B"),
  charset("iso-2022-jp", "\u001b$BF|"),
  charset("iso-2022-kr", "\u000e\u000f"),
  charset("hz-gb-2312", "~{~}"),
  charset("utf-16", "\xd8\x00"),
  charset("gb18030", "\x81\x30\x81\x30"),
  charset("x-nobody-knows", "\xff")
]

export const addressBombs: ReadonlyArray<Bomb> = [
  field("To", "a@sender.example, "),
  field("To", "a,"),
  field("From", "a@b,"),
  field("To", "g:"),
  field("To", "g: a@sender.example; "),
  field("To", "("),
  field("To", '"'),
  field("To", '\\"', '"'),
  field("To", "<"),
  field("To", ","),
  field("To", "@"),
  field("To", "a "),
  field("Cc", "=?utf-8?Q?a?= <a@sender.example>, "),
  field("Reply-To", "(())")
]

export const structureBombs: ReadonlyArray<Bomb> = [
  bomb("900 nested multiparts", () => nestedMultiparts(900)),
  bomb("5,000 nested multiparts", () => nestedMultiparts(5_000)),
  body(
    "nested multiparts of one boundary",
    "Content-Type: multipart/mixed; boundary=b",
    "--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
  ),
  bomb("20,000 nested messages", () => nestedMessages(20_000)),
  bomb("messages nested inline", () =>
    filled(header("inline messages"), "Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n")
  ),
  manyParts("parts of text", "Content-Type: text/plain\r\n\r\nx"),
  manyParts("empty parts", ""),
  manyParts("parts of base64", "Content-Transfer-Encoding: base64\r\n\r\neA=="),
  manyParts("attachments without content", "Content-Disposition: attachment\r\n"),
  manyParts(
    "inline messages side by side",
    "Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\nA: b\r\n\r\nx"
  ),
  body("boundary lines with blanks", "Content-Type: multipart/mixed; boundary=b", "--b \r\n"),
  body("lines that are nearly boundaries", "Content-Type: multipart/mixed; boundary=b", "--c\r\n"),
  body("boundary parameters", "X: y", "boundary=b;", "\r\n--"),
  body("boundaries declared and used", "Content-Type: multipart/mixed; boundary=b", "boundary=b\r\n--b\r\n"),
  field("Content-Type", "a=b; ", "text/plain; "),
  field("Content-Type", 'boundary="b"; ', "multipart/mixed; "),
  field("Content-Type", "name*0*=utf-8''%41; ", "text/plain; "),
  field("Content-Disposition", "x", "attachment; filename="),
  bomb("a file name in pieces", () =>
    Buffer.from(
      `${header("pieces")}Content-Type: application/x;\r\n${Array.from(
        { length: 40_000 },
        (_, number) => ` name*${number}=abcdefg;\r\n`
      ).join("")}\r\n\r\nx`
    ).subarray(0, mebibyte)
  )
]

export const bodyBombs: ReadonlyArray<Bomb> = [
  bomb("an image named 60,000 times", () => {
    const type = "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n"
    const image =
      "\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <x>\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n"
    return filled(`${header("images")}${type}--b\r\nContent-Type: text/html\r\n\r\n`, "<img src=cid:x>", image)
  }),
  body("uuencode begins", "Content-Type: text/plain", "begin 644 a\r\n"),
  body("uuencoded files", "Content-Type: text/plain", "begin 644 a\r\n#86)C\r\n`\r\nend\r\n"),
  body("empty lines", "Content-Type: text/plain", "\r\n"),
  body("line feeds", "Content-Type: text/plain", "\n"),
  body("carriage returns", "Content-Type: text/plain", "\r"),
  body("NULs", "Content-Type: text/plain", "\0"),
  body("one line", "Content-Type: text/plain", "x"),
  body("codes in one line", "Content-Type: text/plain", "code 123456 "),
  body("codes in lines", "Content-Type: text/plain", "your code: 482 913\r\n"),
  body("groups that go on", "Content-Type: text/plain", "A1-"),
  body("digits apart", "Content-Type: text/plain", "1 "),
  body("links in one line", "Content-Type: text/plain", "log in https://a.example/?token=aB3dE6gH9jK2mN5p "),
  body("brackets and links", "Content-Type: text/plain", "[https://a.example/"),
  body("starts of links", "Content-Type: text/plain", "https://"),
  body("flowed lines", "Content-Type: text/plain; format=flowed; delsp=yes", "> \r\n"),
  body("one flowed paragraph", "Content-Type: text/plain; format=flowed", "a \r\n"),
  body("flowed lines of two depths", "Content-Type: text/plain; format=flowed", "> \r\n>> \r\n"),
  body("quote marks of flowed text", "Content-Type: text/plain; format=flowed", ">", " \r\n"),
  body("UTF-8 under another label", "Content-Type: text/plain; charset=iso-8859-1", "\xc3\xbc", "", "\xff"),
  bomb("raw bytes in a header of a Korean text", () =>
    filled(`${header("raw")}Content-Type: text/plain; charset=euc-kr\r\nX-Raw: `, "\xc7\xd1", "\xff\r\n\r\nbody\r\n")
  ),
  bomb("raw bytes in fields of a Korean text", () =>
    filled(`${header("raw fields")}Content-Type: text/plain; charset=euc-kr\r\n`, "To: \xc7\xd1\r\n", "\r\nbody\r\n")
  ),
  bomb("no header and no end", () => filled("", "x")),
  bomb("colons", () => filled("", ":")),
  bomb("carriage returns alone", () => filled("", "\r")),
  bomb("a field like ours that never ends", () => filled("Return-Path: <>\r\nReceived: from a", "\r\n\ta")),
  bomb("line feeds alone", () => filled("", "\n")),
  bomb("blanks alone", () => filled("", " "))
]

/** Costly for the search for a reply. */
export const replyBombs: ReadonlyArray<Bomb> = [
  ...[
    "> x\r\n",
    "On 1:00 2020 a@b.c:\r\n",
    "1 a:\r\n",
    "<\r\n\r\n",
    "From: a\r\n\r\n",
    "-- \r\na b c\r\n",
    "```\r\n"
  ].map((piece) => body(`lines of ${JSON.stringify(piece)}`, "Content-Type: text/plain", piece, "x\r\n")),
  body(
    "replies between quotations",
    "Content-Type: text/plain",
    "> a\r\nb c d e f g.\r\n",
    "x\r\nOn 1/2/24 10:00, A wrote:\r\n"
  ),
  body(
    "a reply below a quotation",
    "Content-Type: text/plain",
    "b c d\r\n",
    "x\r\nOn 1/2/24 10:00, A wrote:\r\n> a\r\n"
  ),
  html("<blockquote type=cite></blockquote>"),
  html("<blockquote type=cite>"),
  html("<div class=gmail_quote></div>"),
  html("1 a:<blockquote></blockquote>")
]

const encoded = (encoding: string, name: string, piece: string, after = "") =>
  body(`${encoding} of ${name}`, `Content-Transfer-Encoding: ${encoding}`, piece, "", after)

/** Runs with a wrong end, which a decoder notices late. */
const runs = (encoding: string): ReadonlyArray<Bomb> => [
  encoded(encoding, "blanks before a letter", " ", "x"),
  encoded(encoding, "blanks before a letter in many lines", `${" ".repeat(990)}x\r\n`),
  encoded(encoding, "blanks before line ends", " \t \r\n"),
  encoded(encoding, "equals signs before a letter", "=", "x"),
  encoded(encoding, "equals signs in many lines", `${"=".repeat(990)}x\r\n`),
  encoded(encoding, "soft breaks", "=\r\n", "x"),
  encoded(encoding, "broken escapes", "=ZZ", "x"),
  encoded(encoding, "carriage returns before a letter", "\r", "x\r\ny\r\n")
]

export const encodingBombs: ReadonlyArray<Bomb> = [
  ...["quoted-printable", "base64", "7bit", "8bit", "x-uuencode"].flatMap(runs),
  encoded("quoted-printable", "blanks", " "),
  encoded("quoted-printable", "NULs", "=00"),
  encoded("quoted-printable", "escaped carriage returns", "=0D", "x"),
  encoded("quoted-printable", "escaped blanks", "=20", "x"),
  encoded("base64", "letters apart", "A \r\n"),
  encoded("base64", "padded letters", "A="),
  encoded("base64", "stray characters", "A!\r\n"),
  encoded("base64", "carriage returns", "DQ0N", "eA=="),
  encoded("base64", "lines that are nearly legible", "!A\r\n"),
  encoded("x-uuencode", "lines of blanks", `M${" ".repeat(60)}\r\n`),
  body("uuencoded lines without their blanks", "Content-Type: text/plain", "M\r\n", "begin 644 a\r\n", "\r\nend\r\n"),
  encoded("base64", "words", "Hello there ", "\r\n"),
  encoded("base64", "words in lines", "Hello\r\n"),
  encoded("base64", "letters apart by blanks", "A "),
  encoded("base64", "padded lines", "SGVsbG8=\r\n"),
  encoded("base64", "padded lines of bytes", "AAE=\r\n"),
  manyParts("parts of damaged base64", "Content-Transfer-Encoding: base64\r\n\r\n!!A=")
]

/** All costly messages. */
export const bombs: ReadonlyArray<Bomb> = [
  ...htmlBombs,
  ...headerBombs,
  ...wordBombs,
  ...charsetBombs,
  ...addressBombs,
  ...structureBombs,
  ...bodyBombs,
  ...replyBombs,
  ...encodingBombs,
  ...costBombs
]
