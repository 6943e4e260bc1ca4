import { assert, describe, it } from "@effect/vitest"
import * as Mime from "../../src/mime/Mime.ts"

const kindOf = (lines: ReadonlyArray<string>, envelopeFrom = "ada@sender.example") =>
  Mime.read(Buffer.from(lines.join("\r\n"))).kind(envelopeFrom)

const withHeader = (...fields: ReadonlyArray<string>) => ["From: ada@sender.example", ...fields, "", "Hello", ""]

const multipart = (type: string, ...parts: ReadonlyArray<ReadonlyArray<string>>) => [
  "From: mailer-daemon@mx.example",
  `Content-Type: ${type}; boundary=b`,
  "",
  ...parts.flatMap((part) => ["--b", ...part]),
  "--b--",
  ""
]

const text = ["Content-Type: text/plain", "", "Words"]

describe("The kind of a mail is", () => {
  it.for([
    ["person", []],
    ["person", ["Auto-Submitted: no"]],
    ["person", ["In-Reply-To: <a@b>"]],
    ["auto_reply", ["Auto-Submitted: auto-replied"]],
    ["auto_reply", ["Precedence: auto_reply"]],
    ["auto_reply", ["X-Autoreply: yes"]],
    ["auto_reply", ["Auto-Submitted: auto-generated", "X-Auto-Response-Suppress: All", "In-Reply-To: <a@b>"]],
    ["bulk", ["Auto-Submitted: auto-generated"]],
    ["bulk", ["Auto-Submitted: auto-generated", "Precedence: bulk", "In-Reply-To: <a@b>"]],
    ["bulk", ["List-Unsubscribe: <https://shop.example/u>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"]],
    ["bulk", ["List-Id: <news.shop.example>"]],
    ["bulk", ["List-Id: <news.shop.example>", "List-Post: NO (announcements only)"]],
    ["bulk", ["Precedence: bulk"]]
  ] as const)("%s for a header with %j", ([type, fields]) => {
    assert.deepStrictEqual(kindOf(withHeader(...fields)), { type })
  })

  it("list with its identifier for mail of a list that takes posts", () => {
    const list = { type: "list", listId: "dev.lists.example" } as const
    assert.deepStrictEqual(
      kindOf(withHeader("List-Id: Developers <dev.lists.example>", "List-Post: <mailto:dev@lists.example>")),
      list
    )
    assert.deepStrictEqual(kindOf(withHeader("Precedence: list", "List-Id: <dev.lists.example>")), list)
  })

  it("auto_reply for a read receipt, also with an empty return path", () => {
    const receipt = multipart("multipart/report; report-type=disposition-notification", text)
    assert.deepStrictEqual(kindOf(receipt, ""), { type: "auto_reply" })
  })
})

describe("A bounce", () => {
  it("lists the recipients of its delivery status, and names the mail that bounced (RFC 3464)", () => {
    const bounce = multipart(
      "multipart/report; report-type=delivery-status",
      text,
      [
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.example",
        "",
        "Original-Recipient: rfc822;gone@example.org",
        "Final-Recipient: rfc822; gone@mail.example.org",
        "Action: failed",
        "Status: 5.1.1 (no such user)",
        "Diagnostic-Code: smtp; 550 5.1.1 <gone@mail.example.org>:",
        " user unknown",
        "",
        "Final-Recipient: rfc822; slow@example.org",
        "Action: Delayed",
        "Status: 4.4.1"
      ],
      ["Content-Type: text/rfc822-headers", "", "Message-ID: <first@inlet.example>", "Subject: Hello"]
    )
    assert.deepStrictEqual(kindOf(bounce, ""), {
      type: "bounce",
      recipients: [
        {
          address: "gone@mail.example.org",
          action: "failed",
          status: "5.1.1",
          diagnostic: "550 5.1.1 <gone@mail.example.org>: user unknown"
        },
        { address: "slow@example.org", action: "delayed", status: "4.4.1", diagnostic: null }
      ],
      originalMessageId: "<first@inlet.example>"
    })
  })

  it("has no recipients if only its return path is empty", () => {
    assert.deepStrictEqual(kindOf(withHeader(), ""), { type: "bounce", recipients: [], originalMessageId: null })
  })

  it("lists at most 20 recipients of a status of any size", () => {
    const groups = Array.from({ length: 5_000 }, (_, number) => ["", `Final-Recipient: rfc822; a${number}@example.org`])
    const kind = kindOf(
      multipart("multipart/report; report-type=delivery-status", text, [
        "Content-Type: message/delivery-status",
        ...groups.flat()
      ])
    )
    assert.strictEqual(kind.type === "bounce" && kind.recipients.length, 20)
  })
})

describe("A report about", () => {
  it("DMARC is recognized by the name of its archive (RFC 9990)", () => {
    const report = multipart("multipart/mixed", text, [
      "Content-Type: application/gzip",
      'Content-Disposition: attachment; filename="mail.receiver.example!inlet.example!1767225600!1767311999.xml.gz"',
      "Content-Transfer-Encoding: base64",
      "",
      "H4sI"
    ])
    assert.deepStrictEqual(kindOf(report), {
      type: "dmarc_report",
      submitter: "mail.receiver.example",
      domain: "inlet.example",
      begin: "2026-01-01T00:00:00Z",
      end: "2026-01-01T23:59:59Z",
      attachment: 0
    })
  })

  it("DMARC is recognized by its subject beside an archive", () => {
    const kind = kindOf([
      "Subject: Report Domain: inlet.example Submitter: receiver.example Report-ID: <1@receiver.example>",
      "Content-Type: application/zip; name=report.zip",
      "Content-Transfer-Encoding: base64",
      "",
      "UEsDBA=="
    ])
    assert.deepInclude(kind, { type: "dmarc_report", submitter: "receiver.example", domain: "inlet.example" })
  })

  it("TLS is recognized by its part (RFC 8460)", () => {
    const report = multipart('multipart/report; report-type="tlsrpt"', text, [
      "Content-Type: application/tlsrpt+gzip",
      'Content-Disposition: attachment; filename="receiver.example!inlet.example!1767225600!1767311999!7.json.gz"',
      "",
      "x"
    ])
    assert.deepInclude(kindOf(["TLS-Report-Submitter: Receiver", "TLS-Report-Domain: inlet.example", ...report]), {
      type: "tls_report",
      submitter: "Receiver",
      domain: "inlet.example",
      attachment: 0
    })
  })

  it("anything else is a mail with an archive", () => {
    const mail = multipart("multipart/mixed", text, [
      "Content-Type: application/zip",
      "Content-Disposition: attachment; filename=photos.zip",
      "",
      "x"
    ])
    assert.deepStrictEqual(kindOf(mail), { type: "person" })
  })
})
