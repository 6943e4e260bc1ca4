import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Mailgun from "../../../src/delivery/formats/Mailgun.ts"
import * as Mandrill from "../../../src/delivery/formats/Mandrill.ts"
import * as Postmark from "../../../src/delivery/formats/Postmark.ts"
import * as Raw from "../../../src/delivery/formats/Raw.ts"
import type { RawOptions } from "../../../src/delivery/formats/RawOptions.ts"
import * as Sendgrid from "../../../src/delivery/formats/Sendgrid.ts"
import { message } from "../../mime/Message.ts"
import { eventId, of, request, signingKey, stamp } from "./DeliveredMail.ts"
import * as Form from "./Form.ts"

const word = (text: string) => `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`
const png = Buffer.from([0x89, 0x50, 0, 0xff, 0x0d, 0x0a])

/** A mail with two files, several recipients, and names that need quotes. */
const rich = of(
  message(
    `From: ${word("Zoë, Ünal")} <ada+x@sender.example>`,
    'To: "Team, Shop" <team@shop.example>, other+tag@shop.example',
    `Cc: ${word('"Q" \\ B')} <cc@shop.example>`,
    "Reply-To: replies@sender.example",
    `Subject: ${word("Grüße")}`,
    "Date: Mon, 02 Nov 2026 10:00:00 +0000",
    "Message-ID: <1@sender.example>",
    "In-Reply-To: <0@sender.example>",
    "References: <00@sender.example> <0@sender.example>",
    "X-Spam-Score: 99",
    "Received-SPF: pass",
    "token: forged",
    "recipient: forged@shop.example",
    "Content-Disposition: inline",
    "Content-Transfer-Encoding: 7bit",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Type: multipart/alternative; boundary=a",
    "",
    "--a",
    "Content-Type: text/plain",
    "",
    "New text",
    "",
    "On Monday Ada wrote:",
    "> old",
    "--a",
    "Content-Type: text/html",
    "",
    "<p>New <b>text</b></p>",
    "--a--",
    "--b",
    "Content-Type: image/png",
    "Content-ID: <logo@x>",
    "Content-Transfer-Encoding: base64",
    "",
    png.toString("base64"),
    "--b",
    `Content-Type: application/pdf; name="${word('a"b')}.pdf"`,
    "Content-Disposition: attachment",
    "",
    "%PDF",
    "--b--",
    ""
  ),
  { recipient: "support+42@shop.example", authentication: { spf: "pass", dkim: "fail" }, envelope: { helo: 'c"x' } }
)

const plain = of(message("From: a@b.example", "Subject: Hi", "", "Text"), { recipient: "team@shop.example" })
const bounce = of(message("Subject: Failed", "", "Text"), { envelope: { from: "" } })

const mime = "https://app.example/rails/mailgun/inbound_emails/mime?x=1"

describe("The raw format", () => {
  it("posts the carried message", () => {
    const { body, headers } = request(Raw.format, plain)
    assert.deepStrictEqual(headers, { "Content-Type": "message/rfc822" })
    assert.strictEqual(Buffer.from(body).toString("latin1"), Buffer.from(plain.message).toString("latin1"))
  })

  const posted = (raw: RawOptions) =>
    request(Raw.format, rich, { given: { ...stamp, credentials: { raw: Redacted.make(raw) } } })

  it("has the headers and the content type that a receiver wants", () => {
    const { body, headers } = posted({ contentType: "message/rfc2822", headers: { "X-API-Key": "k" } })
    assert.deepStrictEqual(headers, { "X-API-Key": "k", "Content-Type": "message/rfc2822" })
    assert.isTrue(Buffer.from(body).equals(Buffer.from(rich.message)))
  })

  it.effect("is a field of a form beside others, as text or as base64", () =>
    Effect.gen(function* () {
      const form = yield* Form.read(posted({ field: "email", fields: { key: 'k"\r\n' }, headers: { "Api-Key": "a" } }))
      assert.deepStrictEqual(form.fields, [
        ["key", 'k"\r\n'],
        ["email", Buffer.from(rich.message).toString()]
      ])
      const { value } = yield* Form.read(posted({ field: "email_encoded", base64: true }))
      assert.strictEqual(value("email_encoded"), Buffer.from(rich.message).toString("base64"))
      const needs = (raw: RawOptions) => Raw.format.recipe(new URL(mime), { raw: Redacted.make(raw) }).needs
      assert.deepStrictEqual(
        [needs({}), needs({ field: "a" }), needs({ field: "a", base64: true })],
        ["message", "text", "message"]
      )
    })
  )
})

describe("The mailgun format", () => {
  const parsed = Form.read(request(Mailgun.format, rich))

  it.effect("has the envelope and the address fields with quoted names", () =>
    Effect.gen(function* () {
      const { value } = yield* parsed
      assert.strictEqual(value("recipient"), "support+42@shop.example")
      assert.strictEqual(value("sender"), "bounce@sender.example")
      assert.strictEqual(value("from"), '"Zoë, Ünal" <ada+x@sender.example>')
      assert.strictEqual(value("From"), '"Zoë, Ünal" <ada+x@sender.example>')
      assert.strictEqual(value("To"), '"Team, Shop" <team@shop.example>, other+tag@shop.example')
      assert.strictEqual(value("Cc"), '"\\"Q\\" \\\\ B" <cc@shop.example>')
      assert.strictEqual(value("Reply-To"), "replies@sender.example")
    })
  )

  it.effect("has the texts, the reply and the header fields that Mailgun posts by name", () =>
    Effect.gen(function* () {
      const { value } = yield* parsed
      for (const name of ["subject", "Subject"]) assert.strictEqual(value(name), "Grüße")
      assert.strictEqual(value("Date"), "Mon, 02 Nov 2026 10:00:00 +0000")
      assert.strictEqual(value("Message-Id"), "<1@sender.example>")
      assert.strictEqual(value("In-Reply-To"), "<0@sender.example>")
      assert.strictEqual(value("References"), "<00@sender.example> <0@sender.example>")
      assert.match(value("body-plain") ?? "", /^New text\n\nOn Monday Ada wrote:\n> old/)
      assert.strictEqual(value("stripped-text"), "New text")
      for (const name of ["body-html", "stripped-html"]) assert.strictEqual(value(name), "<p>New <b>text</b></p>")
    })
  )

  it.effect("posts each field once, so that a sender's field named token is none", () =>
    Effect.gen(function* () {
      const { fields, value } = yield* parsed
      const names = fields.map(([name]) => name)
      assert.deepStrictEqual(names, [...new Set(names)])
      assert.match(value("token") ?? "", /^[\da-f]{50}$/)
      assert.strictEqual(value("recipient"), "support+42@shop.example")
    })
  )

  it.effect("lists the decoded header without claims and fields about the whole content", () =>
    Effect.gen(function* () {
      const headers: ReadonlyArray<readonly [string, string]> = JSON.parse(
        (yield* parsed).value("message-headers") ?? ""
      )
      assert.deepStrictEqual(
        headers.map(([name]) => name),
        [
          "Received",
          "From",
          "To",
          "Cc",
          "Reply-To",
          "Subject",
          "Date",
          "Message-ID",
          "In-Reply-To",
          "References",
          "token",
          "recipient",
          "Content-Type"
        ]
      )
      assert.deepInclude(headers, ["From", '"Zoë, Ünal" <ada+x@sender.example>'])
      assert.deepInclude(headers, ["Subject", "Grüße"])
    })
  )

  it.effect("has the files by number, with names and Content-IDs", () =>
    Effect.gen(function* () {
      const { files, value } = yield* parsed
      assert.deepStrictEqual(files, [
        { field: "attachment-1", filename: "attachment-1.png", contentType: "image/png", content: png },
        { field: "attachment-2", filename: "a%22b.pdf", contentType: "application/pdf", content: Buffer.from("%PDF") }
      ])
      assert.strictEqual(value("attachment-count"), "2")
      assert.strictEqual(value("content-id-map"), '{"<logo@x>":"attachment-1"}')
    })
  )

  it.effect("is signed as Mailgun signs: HMAC-SHA256 of timestamp and token", () =>
    Effect.gen(function* () {
      for (const url of ["https://app.example/hook", mime]) {
        const { value } = yield* Form.read(request(Mailgun.format, rich, { url }))
        assert.strictEqual(value("timestamp"), `${stamp.seconds}`)
        assert.strictEqual(
          value("signature"),
          createHmac("sha256", signingKey)
            .update(`${value("timestamp")}${value("token")}`)
            .digest("hex")
        )
      }
    })
  )

  it.effect("has another token on the next attempt, and otherwise the same fields", () =>
    Effect.gen(function* () {
      const given = { ...stamp, seconds: stamp.seconds + 5, random: new Uint8Array(32).fill(9) }
      const [first, second] = [yield* parsed, yield* Form.read(request(Mailgun.format, rich, { given }))]
      const changed = first.fields.filter(([name, value]) => second.value(name) !== value).map(([name]) => name)
      assert.deepStrictEqual(changed, ["timestamp", "token", "signature"])
      assert.deepStrictEqual(second.files, first.files)
    })
  )

  it("refuses to sign without a key", () => {
    assert.throws(() => request(Mailgun.format, plain, { given: { ...stamp, credentials: {} } }), /no signing key/)
  })

  it.effect("has the whole message and no parts where the path ends in mime", () =>
    Effect.gen(function* () {
      const recipe = Mailgun.format.recipe(new URL(mime), {})
      assert.strictEqual(recipe.needs, "text")
      const { files, value } = yield* Form.read(request(Mailgun.format, rich, { url: mime }))
      assert.strictEqual(value("body-mime"), Buffer.from(rich.message).toString())
      assert.strictEqual(value("recipient"), "support+42@shop.example")
      assert.isUndefined(value("body-plain"))
      assert.deepStrictEqual(files, [])
      assert.strictEqual(Mailgun.format.recipe(new URL("https://app.example/hook?mime"), {}).needs, "parts")
    })
  )

  it.effect("is urlencoded without files, and leaves absent fields out", () =>
    Effect.gen(function* () {
      const made = request(Mailgun.format, plain)
      assert.strictEqual(made.headers["Content-Type"], "application/x-www-form-urlencoded")
      const { fields } = yield* Form.read(made)
      assert.deepStrictEqual(
        fields.map(([name]) => name),
        [
          "recipient",
          "sender",
          "from",
          "subject",
          "From",
          "Subject",
          "body-plain",
          "stripped-text",
          "message-headers",
          "timestamp",
          "token",
          "signature"
        ]
      )
    })
  )

  it.effect("is multipart for a text that frameworks refuse urlencoded", () =>
    Effect.gen(function* () {
      const text = "漢字".repeat(100_000)
      const made = request(Mailgun.format, of(Buffer.from(`Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`)))
      assert.match(made.headers["Content-Type"] ?? "", /^multipart\/form-data/)
      assert.strictEqual((yield* Form.read(made)).value("body-plain"), text)
    })
  )

  it.effect("has an empty sender for a bounce", () =>
    Effect.gen(function* () {
      const { value } = yield* Form.read(request(Mailgun.format, bounce))
      assert.strictEqual(value("sender"), "")
      assert.strictEqual(value("from"), "")
      assert.isUndefined(value("From"))
    })
  )
})

describe("The postmark format", () => {
  const inbound = (mail = rich) => JSON.parse(Buffer.from(request(Postmark.format, mail).body).toString())

  it("has the addresses as fields and as lists", () => {
    const mail = inbound()
    assert.deepInclude(mail, {
      From: "ada+x@sender.example",
      FromName: "Zoë, Ünal",
      To: '"Team, Shop" <team@shop.example>, other+tag@shop.example',
      Cc: '"\\"Q\\" \\\\ B" <cc@shop.example>',
      ReplyTo: "replies@sender.example",
      OriginalRecipient: "support+42@shop.example",
      MailboxHash: "42",
      MessageStream: "inbound",
      Tag: ""
    })
    assert.deepStrictEqual(mail.FromFull, { Email: "ada+x@sender.example", Name: "Zoë, Ünal", MailboxHash: "x" })
    assert.deepStrictEqual(mail.ToFull, [
      { Email: "team@shop.example", Name: "Team, Shop", MailboxHash: "" },
      { Email: "other+tag@shop.example", Name: "", MailboxHash: "tag" }
    ])
    assert.deepStrictEqual(mail.CcFull, [{ Email: "cc@shop.example", Name: '"Q" \\ B', MailboxHash: "" }])
  })

  it("has the recipient in Bcc only where To and Cc do not name it", () => {
    assert.strictEqual(inbound().Bcc, "support+42@shop.example")
    assert.deepStrictEqual(inbound().BccFull, [{ Email: "support+42@shop.example", Name: "", MailboxHash: "42" }])
    const named = inbound(of(message("To: Team@Shop.example", "", "x"), { recipient: "team@shop.example" }))
    assert.deepInclude(named, { Bcc: "", BccFull: [] })
  })

  it("has the texts, the event id and the raw message", () => {
    const mail = inbound()
    assert.deepInclude(mail, {
      Subject: "Grüße",
      MessageID: eventId,
      Date: "Mon, 02 Nov 2026 10:00:00 +0000",
      HtmlBody: "<p>New <b>text</b></p>",
      StrippedTextReply: "New text",
      RawEmail: Buffer.from(rich.message).toString()
    })
    assert.match(mail.TextBody, /^New text\n/)
  })

  it("has the envelope sender first in its header list, then the SPF verdict, and no claims", () => {
    assert.deepStrictEqual(
      inbound()
        .Headers.map(({ Name, Value }: { Name: string; Value: string }) => `${Name}: ${Value}`)
        .filter((line: string) => !line.startsWith("Received: ")),
      [
        "Return-Path: <bounce@sender.example>",
        'Received-SPF: pass client-ip=203.0.113.9; envelope-from="bounce@sender.example"; helo="c\\"x"',
        "Message-ID: <1@sender.example>",
        "In-Reply-To: <0@sender.example>",
        "References: <00@sender.example> <0@sender.example>",
        "token: forged",
        "recipient: forged@shop.example"
      ]
    )
    assert.notInclude(JSON.stringify(inbound(plain).Headers), "Received-SPF")
    assert.deepStrictEqual(inbound(bounce).Headers[0], { Name: "Return-Path", Value: "<>" })
  })

  it("has the files as base64", () => {
    assert.deepStrictEqual(inbound().Attachments, [
      {
        Name: "attachment-1.png",
        Content: png.toString("base64"),
        ContentType: "image/png",
        ContentLength: 6,
        ContentID: "logo@x"
      },
      { Name: 'a"b.pdf', Content: "JVBERg==", ContentType: "application/pdf", ContentLength: 4, ContentID: "" }
    ])
  })

  it("has every field of a bare mail as an empty value", () => {
    const mail = inbound(bounce)
    for (const name of ["From", "FromName", "To", "Cc", "ReplyTo", "HtmlBody", "StrippedTextReply"]) {
      assert.strictEqual(mail[name], "", name)
    }
    for (const name of ["ToFull", "CcFull", "Attachments"]) assert.deepStrictEqual(mail[name], [], name)
    assert.strictEqual(mail.Date, "Sat, 31 Jan 2026 12:00:00 +0000")
  })
})

describe("The sendgrid format", () => {
  const parsed = Form.read(request(Sendgrid.format, rich))

  it.effect("has the addresses, the envelope and the verdicts", () =>
    Effect.gen(function* () {
      const { value } = yield* parsed
      assert.strictEqual(value("to"), '"Team, Shop" <team@shop.example>, other+tag@shop.example')
      assert.strictEqual(value("from"), '"Zoë, Ünal" <ada+x@sender.example>')
      assert.strictEqual(value("cc"), '"\\"Q\\" \\\\ B" <cc@shop.example>')
      assert.strictEqual(value("envelope"), '{"to":["support+42@shop.example"],"from":"bounce@sender.example"}')
      assert.strictEqual(value("sender_ip"), "203.0.113.9")
      assert.strictEqual(value("SPF"), "pass")
      assert.strictEqual(value("dkim"), "{@sender.example : fail}")
      assert.strictEqual((yield* Form.read(request(Sendgrid.format, plain))).value("dkim"), "none")
      for (const name of ["spam_score", "spam_report"]) assert.isUndefined(value(name))
    })
  )

  it.effect("has the header lines as sent, without claims and fields about the whole content", () =>
    Effect.gen(function* () {
      const lines = ((yield* parsed).value("headers") ?? "").split("\n")
      assert.deepStrictEqual(lines.slice(0, 2), [
        "X-Original-To: support+42@shop.example",
        "Return-Path: <bounce@sender.example>"
      ])
      assert.include(lines, `Subject: ${word("Grüße")}`)
      assert.include(lines, "Content-Type: multipart/mixed; boundary=b")
      assert.notMatch(lines.join("\n"), /x-spam|received-spf|content-disposition|content-transfer/i)
      assert.strictEqual(lines.at(-1), "")
    })
  )

  it.effect("has the texts and the files", () =>
    Effect.gen(function* () {
      const { files, value } = yield* parsed
      assert.match(value("text") ?? "", /^New text\n/)
      assert.strictEqual(value("html"), "<p>New <b>text</b></p>")
      assert.strictEqual(value("attachments"), "2")
      assert.deepStrictEqual(JSON.parse(value("attachment-info") ?? ""), {
        attachment1: {
          filename: "attachment-1.png",
          name: "attachment-1.png",
          type: "image/png",
          "content-id": "logo@x"
        },
        attachment2: { filename: 'a"b.pdf', name: 'a"b.pdf', type: "application/pdf" }
      })
      assert.deepStrictEqual(
        files.map(({ content, field, filename }) => [field, filename, content]),
        [
          ["attachment1", "attachment-1.png", png],
          ["attachment2", "a%22b.pdf", Buffer.from("%PDF")]
        ]
      )
    })
  )

  it.effect("has the whole message in the raw variant", () =>
    Effect.gen(function* () {
      const { files, value } = yield* Form.read(request(Sendgrid.rawFormat, rich))
      assert.strictEqual(value("email"), Buffer.from(rich.message).toString())
      assert.strictEqual(value("envelope"), '{"to":["support+42@shop.example"],"from":"bounce@sender.example"}')
      for (const name of ["headers", "text", "html"]) assert.isUndefined(value(name))
      assert.deepStrictEqual(files, [])
    })
  )
})

describe("The mandrill format", () => {
  const hook = "https://app.example/hook?a=1"
  const eventsOf = (mail = rich, given = stamp) =>
    Effect.gen(function* () {
      const made = request(Mandrill.format, mail, { given, url: hook })
      const { fields, value } = yield* Form.read(made)
      assert.deepStrictEqual(
        fields.map(([name]) => name),
        ["mandrill_events"]
      )
      const events = value("mandrill_events") ?? ""
      const [event, ...others] = JSON.parse(events)
      assert.deepStrictEqual(others, [])
      return { event, events, headers: made.headers, msg: event.msg }
    })

  it.effect("has the raw message and the parsed mail in one event", () =>
    Effect.gen(function* () {
      const { event, msg } = yield* eventsOf()
      assert.deepInclude(event, { event: "inbound", ts: Date.parse("2026-01-31T12:00:00Z") / 1_000 })
      assert.strictEqual(msg.raw_msg, Buffer.from(rich.message).toString())
      assert.match(msg.text, /^New text\n/)
      assert.deepInclude(msg, {
        html: "<p>New <b>text</b></p>",
        from_email: "ada+x@sender.example",
        from_name: "Zoë, Ünal",
        email: "support+42@shop.example",
        subject: "Grüße",
        spf: { result: "pass", detail: "" },
        dkim: { signed: true, valid: false },
        to: [
          ["team@shop.example", "Team, Shop"],
          ["other+tag@shop.example", null]
        ],
        cc: [["cc@shop.example", '"Q" \\ B']]
      })
      for (const name of ["spam_report", "images"]) assert.notProperty(msg, name)
    })
  )

  it.effect("has the header by name without claims, and repeated fields as lists", () =>
    Effect.gen(function* () {
      const { msg } = yield* eventsOf(
        of(message("From: a@b.example", "received: one", "RECEIVED: two", "X-Spam-Score: 9", "__proto__: x", "", "y"))
      )
      assert.include(msg.headers, { From: "a@b.example" })
      assert.deepStrictEqual(msg.headers.Received.slice(-2), ["one", "two"])
      assert.notProperty(msg.headers, "X-Spam-Score")
      assert.strictEqual((yield* eventsOf()).msg.headers["Message-Id"], "<1@sender.example>")
    })
  )

  it.effect("has every file under a name of its own", () =>
    Effect.gen(function* () {
      const { msg } = yield* eventsOf()
      assert.deepStrictEqual(msg.attachments, {
        "attachment-1.png": {
          name: "attachment-1.png",
          type: "image/png",
          content: png.toString("base64"),
          base64: true
        },
        'a"b.pdf': { name: 'a"b.pdf', type: "application/pdf", content: "JVBERg==", base64: true }
      })
      const [part] = rich.parts
      const names = ["x", "x (2)", "x", "x", "__proto__"]
      const parts = names.flatMap((filename) => (part === undefined ? [] : [{ ...part, filename }]))
      const { msg: many } = yield* eventsOf({ ...rich, parts })
      assert.deepStrictEqual(Object.keys(many.attachments), ["x", "x (2)", "x (3)", "x (4)", "__proto__"])
      assert.notProperty((yield* eventsOf(plain)).msg, "attachments")
    })
  )

  it.effect("is signed as Mandrill signs: HMAC-SHA1 of the URL, with user name and password, and the field", () =>
    Effect.gen(function* () {
      const tag = (url: string, events: string) =>
        createHmac("sha1", signingKey).update(`${url}mandrill_events${events}`).digest("base64")
      const { events, headers } = yield* eventsOf()
      assert.strictEqual(headers["X-Mandrill-Signature"], tag(hook, events))
      const credentials = { ...stamp.credentials, user: "u", password: Redacted.make("$& p@ss") }
      const { headers: signed } = yield* eventsOf(rich, { ...stamp, credentials })
      assert.strictEqual(signed["X-Mandrill-Signature"], tag("https://u:$& p@ss@app.example/hook?a=1", events))
      assert.throws(() => request(Mandrill.format, plain, { given: { ...stamp, credentials: {} } }), /no signing key/)
    })
  )

  it.effect("is multipart with the same signature for a mail that frameworks refuse urlencoded", () =>
    Effect.gen(function* () {
      const text = "漢字".repeat(100_000)
      const { events, headers, msg } = yield* eventsOf(
        of(Buffer.from(`Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`))
      )
      assert.match(headers["Content-Type"] ?? "", /^multipart\/form-data/)
      assert.strictEqual(msg.text, text)
      assert.strictEqual(
        headers["X-Mandrill-Signature"],
        createHmac("sha1", signingKey).update(`${hook}mandrill_events${events}`).digest("base64")
      )
    })
  )
})

describe("No request of a format", () => {
  it("contains a secret", () => {
    const given = {
      ...stamp,
      credentials: { ...stamp.credentials, user: "u", password: Redacted.make("the-password") }
    }
    const others = [Sendgrid.format, Sendgrid.rawFormat, Mandrill.format]
    for (const format of [Raw.format, Mailgun.format, Postmark.format, ...others]) {
      const { body, headers } = request(format, rich, { given })
      const text = JSON.stringify(headers) + Buffer.from(body).toString("latin1")
      for (const secret of [signingKey, "the-password", "whsec_none"]) assert.notInclude(text, secret)
    }
  })
})
