import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import addressparser from "nodemailer/lib/addressparser"
import * as AddressField from "../../../src/delivery/formats/AddressField.ts"
import * as Mailgun from "../../../src/delivery/formats/Mailgun.ts"
import * as Multipart from "../../../src/delivery/formats/Multipart.ts"
import * as Postmark from "../../../src/delivery/formats/Postmark.ts"
import * as Sendgrid from "../../../src/delivery/formats/Sendgrid.ts"
import type { DeliveredParts } from "../../../src/delivery/formats/WebhookFormat.ts"
import { eventId, of, request } from "./DeliveredMail.ts"
import * as Form from "./Form.ts"

const boundary = `inlet-${hash("sha256", eventId).slice(0, 32)}`

/** Text that could end a name, a field, a part or the request. */
const hostile = (maxLength: number) =>
  Arbitrary.array(
    Arbitrary.schema(
      Schema.Literals([
        "a",
        " ",
        "ü",
        "漢",
        "🎉",
        '"',
        "\\",
        ",",
        ";",
        "<",
        ">",
        "%22",
        "&",
        "=",
        "+",
        "--",
        "\r",
        "\n",
        "\r\n",
        `\r\n--${boundary}`,
        `\r\n--${boundary}--\r\n`,
        "\0",
        "\xff"
      ])
    ),
    { maxLength }
  ).pipe(Arbitrary.map((some) => some.join("")))

const word = (text: string) => (text === "" ? "" : `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`)
const parameter = (text: string) =>
  `utf-8''${encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`

const mails = Arbitrary.all({
  subject: hostile(12),
  name: hostile(6),
  text: hostile(30),
  isUtf8: Arbitrary.schema(Schema.Boolean),
  files: Arbitrary.array(
    Arbitrary.all({
      name: hostile(6),
      id: hostile(3),
      content: Arbitrary.schema(Schema.Uint8Array),
      isBoundary: Arbitrary.schema(Schema.Boolean)
    }),
    { maxLength: 3 }
  )
}).pipe(
  Arbitrary.map(({ files, isUtf8, name, subject, text }): DeliveredParts => {
    const header = [
      `From: ${word(name)} <ada@sender.example>`,
      `To: ${word(name)} <team@shop.example>, second@shop.example`,
      `Subject: ${word(subject)}`,
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      `Content-Type: text/plain; charset=${isUtf8 ? "utf-8" : "iso-8859-1"}`,
      "",
      ""
    ].join("\r\n")
    const parts = files.map(({ content, id, isBoundary, name }) => {
      const bytes = isBoundary ? Buffer.from(`\r\n--${boundary}\r\n`) : Buffer.from(content)
      return `\r\n--b\r\nContent-Type: application/x\r\nContent-ID: <${id.replace(/[\r\n<>]/g, "")}>\r\nContent-Disposition: attachment; filename*=${parameter(name)}\r\nContent-Transfer-Encoding: base64\r\n\r\n${bytes.toString("base64")}`
    })
    return of(
      Buffer.concat([
        Buffer.from(header),
        Buffer.from(text, isUtf8 ? "utf8" : "latin1"),
        Buffer.from(`${parts.join("")}\r\n--b--\r\n`)
      ])
    )
  })
)

/** As browsers write names in a form. */
const shown = (name: string | undefined) => name?.replaceAll('"', "%22")

const isSameFiles = (
  files: ReadonlyArray<Form.FormFile>,
  { parts }: DeliveredParts,
  field: (number: number) => string
) => {
  assert.deepStrictEqual(
    files.map(({ content, contentType, field }) => [field, contentType, content]),
    parts.map(({ content, contentType }, index) => [field(index + 1), contentType, Buffer.from(content)])
  )
  for (const [index, { filename }] of parts.entries()) {
    if (filename !== null) assert.strictEqual(files[index]?.filename, shown(filename))
  }
}

const options = { arbitrary: { runs: 150 } }

describe("Any mail", () => {
  it.effect.prop(
    "has the same values after an independent parser in the parsed mailgun format",
    { mail: mails },
    ({ mail }) =>
      Effect.gen(function* () {
        const { files, value } = yield* Form.read(request(Mailgun.format, mail))
        const { event } = mail
        assert.strictEqual(value("subject"), event.subject)
        assert.strictEqual(value("body-plain"), event.text)
        assert.strictEqual(value("recipient"), event.recipient)
        assert.strictEqual(value("To"), AddressField.of(event.to))
        assert.deepInclude(JSON.parse(value("message-headers") ?? ""), ["Subject", event.subject])
        isSameFiles(files, mail, (number) => `attachment-${number}`)
      }),
    options
  )

  it.effect.prop(
    "has the same bytes in the raw variants of mailgun and sendgrid",
    { mail: mails },
    ({ mail }) =>
      Effect.gen(function* () {
        const text = Buffer.from(mail.message).toString()
        assert.strictEqual(Buffer.byteLength(text), mail.message.byteLength)
        const mailgun = yield* Form.read(request(Mailgun.format, mail, { url: "https://app.example/mime" }))
        assert.strictEqual(mailgun.value("body-mime"), text)
        const sendgrid = yield* Form.read(request(Sendgrid.rawFormat, mail))
        assert.strictEqual(sendgrid.value("email"), text)
      }),
    options
  )

  it.effect.prop(
    "has the same values in the parsed sendgrid format",
    { mail: mails },
    ({ mail }) =>
      Effect.gen(function* () {
        const { files, value } = yield* Form.read(request(Sendgrid.format, mail))
        const { event } = mail
        assert.strictEqual(value("subject"), event.subject)
        assert.strictEqual(value("text"), event.text)
        assert.strictEqual(value("from"), AddressField.of([{ name: event.fromName ?? "", address: event.from }]))
        for (const line of (value("headers") ?? "").split("\n").slice(0, -1)) assert.match(line, /^[!-9;-~]+: /)
        isSameFiles(files, mail, (number) => `attachment${number}`)
      }),
    options
  )

  it.prop(
    "has the same values in the postmark format",
    { mail: mails },
    ({ mail }) => {
      const { event, message, parts } = mail
      const inbound = JSON.parse(Buffer.from(request(Postmark.format, mail).body).toString())
      assert.deepInclude(inbound, {
        Subject: event.subject,
        TextBody: event.text,
        FromName: event.fromName ?? "",
        RawEmail: Buffer.from(message).toString()
      })
      assert.deepStrictEqual(
        inbound.Attachments.map(({ Content }: { Content: string }) => Buffer.from(Content, "base64")),
        parts.map(({ content }) => Buffer.from(content))
      )
    },
    options
  )
})

describe("A multipart form", () => {
  it.effect.prop(
    "is read back by an independent parser, for any names and values",
    { pairs: Arbitrary.array(Arbitrary.all({ name: hostile(5), value: hostile(20) }), { maxLength: 6 }) },
    ({ pairs }) =>
      Effect.gen(function* () {
        const fields = pairs.map(({ name, value }) => [`n${name.replaceAll("\0", "")}`, value] as const)
        const { body, contentType } = Multipart.of(eventId, fields)
        const { fields: read } = yield* Form.read({ headers: { "Content-Type": contentType }, body })
        assert.deepStrictEqual(
          read.map(([, value]) => value),
          fields.map(([, value]) => value)
        )
      }),
    options
  )

  it("has the same boundary for a delivery, and another one if a value contains it", () => {
    const type = (value: string) => Multipart.of(eventId, [["a", value]]).contentType
    assert.strictEqual(type("x"), `multipart/form-data; boundary=${boundary}`)
    assert.strictEqual(type("y"), type("x"))
    assert.notStrictEqual(type(`x${boundary}`), type("x"))
  })
})

describe("An address field", () => {
  it.prop(
    "is read as the same mailboxes by an independent parser, for any names",
    { names: Arbitrary.array(hostile(6), { maxLength: 4 }) },
    ({ names }) => {
      // Names of events have no line ends and control characters.
      const mailboxes = names.map((name, index) => ({
        name: name.replace(/[\r\n\0]/g, "").trim(),
        address: `a${index}@sender.example`
      }))
      assert.deepStrictEqual(
        addressparser(AddressField.of(mailboxes), { flatten: true }).map(({ address }) => address),
        mailboxes.map(({ address }) => address)
      )
    },
    options
  )

  it("quotes a local part that would be read as two addresses", () => {
    const field = (address: string) => AddressField.of([{ name: "", address }])
    assert.strictEqual(field("a,b@c.example"), '"a,b"@c.example')
    assert.strictEqual(field('"a b"@c.example'), '"a b"@c.example')
    assert.strictEqual(field('a"b@c.example'), '"a\\"b"@c.example')
    assert.strictEqual(field("a@c.example, d@e.example"), '"a@c.example, d"@e.example')
    assert.strictEqual(field("zoë@c.example"), "zoë@c.example")
    assert.strictEqual(field("a@c.example>"), "a@c.example")
  })

  it("leaves out mailboxes without an address", () => {
    assert.strictEqual(AddressField.of([{ name: "Undisclosed", address: "" }]), "")
  })
})
