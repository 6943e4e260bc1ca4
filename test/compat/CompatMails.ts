import { createHash } from "node:crypto"

export interface CompatFile {
  readonly filename: string
  readonly contentType: string
  readonly contentId: string | null
  readonly content: Buffer
  /** The parameter with the name, where it needs an encoding. */
  readonly parameter?: string
}

/** What is true of a mail. Its bytes are written from this, so that no parser is asked. */
export interface Truth {
  readonly name: string
  readonly fromField: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string | null
  readonly messageId: string | null
  /** Undefined where a provider may make text of the HTML. */
  readonly text: string | null | undefined
  readonly html: string | null
  readonly files: ReadonlyArray<CompatFile>
  readonly sender: string
  readonly recipients: number
  /** The fields of a delivery report, which Inlet's own event has as text and as a file, and receivers as neither. */
  readonly report: string | undefined
}

export interface CompatMail {
  readonly truth: Truth
  readonly bytes: Buffer
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const lines = (...all: ReadonlyArray<string>) => all.join("\r\n")
const word = (text: string) => `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/.{76}/g, "$&\r\n")

/** Quoted-printable (RFC 2045, section 6.7), with whitespace at the end of a line as an escape. */
const quoted = (text: string) =>
  text
    .split("\n")
    .map((line) => {
      let written = ""
      let column = 0
      const bytes = Buffer.from(line)
      for (const [at, byte] of bytes.entries()) {
        const isPlain = byte > 32 && byte < 127 && byte !== 61
        const isBlank = byte === 32 && at < bytes.length - 1
        const piece =
          isPlain || isBlank ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`
        if (column + piece.length > 74) {
          written += "=\r\n"
          column = 0
        }
        written += piece
        column += piece.length
      }
      return written
    })
    .join("\r\n")

/** Bytes of every value, the same on every run. */
const noise = (length: number, seed: string) => {
  const bytes = Buffer.alloc(length)
  let block: Uint8Array = Buffer.from(seed)
  for (let at = 0; at < length; at += block.length) {
    block = createHash("sha256").update(block).digest()
    Buffer.from(block).copy(bytes, at)
  }
  return bytes
}

const file = (filename: string, contentType: string, content: Buffer, more: Partial<CompatFile> = {}): CompatFile => ({
  filename,
  contentType,
  content,
  contentId: null,
  ...more
})

const header = (truth: Truth, more: ReadonlyArray<string> = []) => [
  `From: ${truth.fromField}`,
  `To: ${truth.to.join(", ")}`,
  ...(truth.cc.length > 0 ? [`Cc: ${truth.cc.join(", ")}`] : []),
  ...(truth.subject === null
    ? []
    : [`Subject: ${/^[ -~]*$/.test(truth.subject) ? truth.subject : word(truth.subject)}`]),
  "Date: Mon, 02 Nov 2026 10:00:00 +0000",
  ...(truth.messageId === null ? [] : [`Message-ID: <${truth.messageId}>`]),
  "MIME-Version: 1.0",
  ...more
]

const fieldsOf = ({ contentId, contentType, filename, parameter }: CompatFile) => [
  `Content-Type: ${contentType}`,
  `Content-Disposition: ${contentId === null ? "attachment" : "inline"}; ${parameter ?? `filename="${filename}"`}`,
  "Content-Transfer-Encoding: base64",
  ...(contentId === null ? [] : [`Content-ID: <${contentId}>`])
]
const attached = (one: CompatFile) => [...fieldsOf(one), "", base64(one.content)]

const multipart = (boundary: string, parts: ReadonlyArray<ReadonlyArray<string>>) => [
  ...parts.flatMap((part) => [`--${boundary}`, ...part]),
  `--${boundary}--`,
  ""
]
const textFields = (type = "plain") => [
  `Content-Type: text/${type}; charset=utf-8`,
  "Content-Transfer-Encoding: quoted-printable"
]
const textPart = (text: string, type?: string) => [...textFields(type), "", quoted(text)]
const mixed = 'Content-Type: multipart/mixed; boundary="M"'

const mail = (name: string, given: Partial<Truth>, write: (truth: Truth) => Buffer | string): CompatMail => {
  const truth: Truth = {
    name,
    fromField: "ada@sender.example",
    to: ["team@shop.example"],
    cc: [],
    subject: `Mail ${name}`,
    messageId: `${name}@sender.example`,
    text: null,
    html: null,
    files: [],
    sender: "bounces@sender.example",
    recipients: 1,
    report: undefined,
    ...given
  }
  return { truth, bytes: Buffer.from(write(truth)) }
}

const plainText = (name: string, text: string, given: Partial<Truth> = {}, fields: ReadonlyArray<string> = []) =>
  mail(name, { text, ...given }, (truth) =>
    lines(...fields, ...header(truth, ["Content-Type: text/plain"]), "", ...text.split("\n"))
  )

const latin1 = (text: string) => Buffer.from(text, "latin1")
const scan = file("scan.pdf", "application/pdf", noise(4_000, "scan"))
const menu = file("menu.txt", "text/plain", latin1("th\xe9 glac\xe9\n"))
const report = lines(
  "Reporting-MTA: dns; mx.sender.example",
  "",
  "Final-Recipient: rfc822; x@y.example",
  "Action: failed",
  ""
)
const files = [
  file("Übersicht 漢字.pdf", "application/pdf", noise(500, "n1"), {
    parameter: `filename*=utf-8''${encodeURIComponent("Übersicht 漢字.pdf")}`
  }),
  file("a; b 'c'.txt", "text/plain", Buffer.from("semi\r\ncolon\r\n")),
  file("copy.pdf", "application/pdf", noise(501, "n3"))
]
const pictures = [
  file("logo.png", "image/png", noise(3_000, "png"), { contentId: "logo@x" }),
  file("bill.pdf", "application/pdf", noise(20_000, "pdf"))
]
const html = '<p>HTML says <b>hi</b> – <img src="cid:logo@x"></p>\n'

export const mails: ReadonlyArray<CompatMail> = [
  plainText("plain", "Hello,\nthis is plain.\n"),
  mail(
    "words",
    {
      subject: "Grüße aus Köln 🎉",
      fromField: `${word("Zoë, Ünal")} <ada@sender.example>`,
      text: `Größe: 10 € = viel\n${"漢字と🎉 ".repeat(20)}\n`
    },
    (truth) => lines(...header(truth, textFields()), "", quoted(truth.text ?? ""))
  ),
  // RFC 2045 drops such blanks, and the libraries of Python and Ruby keep them.
  mail("blanks", { text: "Ends in a blank \nand Köln\t\n-- \nAda\n" }, (truth) =>
    lines(...header(truth, textFields()), "", ...(truth.text ?? "").replace("ö", "=C3=B6").split("\n"))
  ),
  mail("utf8-8bit", { text: "Straße und 漢字 in acht Bit\n" }, (truth) =>
    lines(
      ...header(truth, ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]),
      "",
      "Straße und 漢字 in acht Bit",
      ""
    )
  ),
  mail("latin1-8bit", { text: "Une façade à Genève, très élégante\n" }, (truth) =>
    latin1(
      lines(
        ...header(truth, ["Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: 8bit"]),
        "",
        "Une façade à Genève, très élégante",
        ""
      )
    )
  ),
  mail("latin1-parts", { text: "Café crème, 5 £\n", files: [menu] }, (truth) =>
    latin1(
      lines(
        ...header(truth, [mixed]),
        "",
        ...multipart("M", [
          ["Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: 8bit", "", "Café crème, 5 £"],
          attached({ ...menu, contentType: "text/plain; charset=iso-8859-1" })
        ])
      )
    )
  ),
  mail("japanese", { text: "日本\n" }, (truth) =>
    latin1(lines(...header(truth, ["Content-Type: text/plain; charset=iso-2022-jp"]), "", "\x1b$BF|K\\\x1b(B", ""))
  ),
  mail("alternative", { text: "Plain says hi\n", html, files: pictures }, (truth) =>
    lines(
      ...header(truth, [mixed]),
      "",
      ...multipart("M", [
        [
          'Content-Type: multipart/related; boundary="R"',
          "",
          ...multipart("R", [
            [
              'Content-Type: multipart/alternative; boundary="A"',
              "",
              ...multipart("A", [textPart("Plain says hi\n"), textPart(html, "html")])
            ],
            ...pictures.slice(0, 1).map(attached)
          ])
        ],
        ...pictures.slice(1).map(attached)
      ])
    )
  ),
  mail("names", { text: "Three files\n", files }, (truth) =>
    lines(...header(truth, [mixed]), "", ...multipart("M", [textPart("Three files\n"), ...files.map(attached)]))
  ),
  mail("html-only", { html: "<h1>Only</h1><p>HTML &amp; nothing else</p>\n", text: undefined }, (truth) =>
    lines(...header(truth, textFields("html")), "", quoted(truth.html ?? ""))
  ),
  mail(
    "big",
    { text: "A big file\n", files: [file("data.bin", "application/octet-stream", noise(600_000, "big"))] },
    (truth) =>
      lines(...header(truth, [mixed]), "", ...multipart("M", [textPart("A big file\n"), ...truth.files.map(attached)]))
  ),
  // The fields about its content are those of the whole message.
  mail("file-alone", { files: [scan] }, (truth) =>
    lines(...header(truth, fieldsOf(scan)), "", base64(scan.content), "")
  ),
  plainText("many", "To several\n", {
    to: ["one@shop.example", "two@shop.example"],
    cc: ["three@shop.example"],
    recipients: 2
  }),
  mail("empty", { subject: null, text: "" }, (truth) => lines(...header(truth), "", "")),
  plainText("no-id", "Without an id\n", { messageId: null }),
  plainText("dots", `.\n..two\n.${"long ".repeat(190)}\n--M\nFrom here\n`),
  // No receiver may believe a sender that writes what its provider says.
  plainText("forged", "Believe me\n", {}, [
    "X-Original-To: victim@other.example",
    "Return-Path: <boss@shop.example>",
    "Received-SPF: pass (forged) envelope-from=boss@shop.example",
    "X-Spam-Status: Yes",
    "X-Spam-Score: 99",
    "X-Mailgun-Sflag: Yes",
    "X-Mailgun-Sscore: 99",
    // Ruby and Python read a field after a bare CR.
    "X-Word: a\rX-Original-To: victim@other.example",
    "X-Word: b\rX-Spam-Score: 99"
  ]),
  mail(
    "bounce",
    { sender: "", fromField: "mailer-daemon@sender.example", text: "Could not deliver\n", report },
    (truth) =>
      lines(
        ...header(truth, ['Content-Type: multipart/report; report-type=delivery-status; boundary="M"']),
        "",
        ...multipart("M", [textPart("Could not deliver\n"), ["Content-Type: message/delivery-status", "", report]])
      )
  )
]
