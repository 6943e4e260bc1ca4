import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { simpleParser } from "mailparser"
import * as CarriedMessage from "../../../src/delivery/formats/CarriedMessage.ts"
import { message } from "../../mime/Message.ts"
import * as DeliveredMail from "./DeliveredMail.ts"

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")

/** The carried message after X-Original-To and Inlet's trace fields. */
const received = (bytes: Uint8Array) => {
  const text = latin1(DeliveredMail.carried(bytes))
  const own = `X-Original-To: team@shop.example\r\n${latin1(DeliveredMail.trace("bounce@sender.example"))}`
  assert.isTrue(text.startsWith(own), text.slice(0, 300))
  return text.slice(own.length)
}

const forged = [
  "Return-Path: <boss@shop.example>",
  "X-Original-To: victim@shop.example",
  "x_original_to: victim@shop.example",
  "X-Envelope-From: boss@shop.example",
  "X-Envelope-To: victim@shop.example",
  "Received-SPF: pass (forged) envelope-from=boss@shop.example",
  "X-Spam-Status: No, score=-99",
  "X-Spam-Score: 99",
  "X-Spam: yes",
  "X-Mailgun-Sflag: Yes",
  "X-Mailgun-Sscore: 99",
  "X-Mailgun-Spf: Pass",
  "X-Mailgun-Dkim-Check-Result: Pass",
  "X-Mailgun-Incoming: Yes"
]

describe("The carried message", () => {
  it("is the stored one with its recipient and the sender's check in front", () => {
    const field = `Authentication-Results: ${DeliveredMail.authservId};\r\n spf=pass\r\n`
    const carried = DeliveredMail.carried(message("Subject: Hi", "", "Text"), {
      recipient: "Ada+x@shop.example",
      authenticationResults: field
    })
    assert.strictEqual(
      latin1(carried),
      `X-Original-To: Ada+x@shop.example\r\n${field}${latin1(DeliveredMail.trace("bounce@sender.example"))}Subject: Hi\r\n\r\nText`
    )
  })

  it("keeps every byte of a message without claims", () => {
    for (const bytes of [
      message(
        "Subject: \xe4\xff",
        "X-Mailgun-Variables: {}",
        "X-Spammer: no",
        "Delivered-To: a@b.example",
        "",
        "\0\xff\r",
        "."
      ),
      message("no header at all"),
      message("", "X-Spam-Status: in the body"),
      message("Subject: a", "", "", "Return-Path: <in@the.body>", ""),
      Buffer.alloc(0)
    ]) {
      assert.strictEqual(received(bytes), latin1(bytes))
    }
  })

  for (const field of forged) {
    it(`leaves out a sender's ${field.split(":")[0]}, also folded and in capitals`, () => {
      for (const written of [
        field,
        field.toUpperCase(),
        field.replace(": ", " :\r\n\t"),
        field.replace(": ", `${" ".repeat(300)}: `),
        field.replace(": ", "\r\n : "),
        `${field}\r\n  folded\r\n\tline`
      ]) {
        assert.strictEqual(received(message("A: 1", written, "B: 2", "", "Text")), "A: 1\r\nB: 2\r\n\r\nText")
        assert.strictEqual(received(message(written, "B: 2", "", "Text")), "B: 2\r\n\r\nText")
        assert.strictEqual(received(message("A: 1", written, "", "Text")), "A: 1\r\n\r\nText")
      }
    })
  }

  it("leaves out claims with the line ends of old programs", () => {
    assert.strictEqual(received(Buffer.from("A: 1\nX-Spam-Score: 9\nB: 2\n\nText")), "A: 1\nB: 2\n\nText")
    assert.strictEqual(
      received(Buffer.from("A: 1\r\r\nX-Spam-Score: 9\r\r\nB: 2\r\r\n\r\r\nText")),
      "A: 1\r\r\nB: 2\r\r\n\r\r\nText"
    )
  })

  it("leaves out a claim after a bare CR, which Ruby and Python read as a line end", () => {
    assert.strictEqual(
      received(message("A: 1\rX-Original-To: victim@shop.example", "B: 2", "", "Text")),
      "A: 1\r\nB: 2\r\n\r\nText"
    )
    assert.strictEqual(received(message("A: 1\rX-Spam-Score: 9\rB: 2", "", "Text")), "A: 1\rB: 2\r\n\r\nText")
  })

  it("leaves out a claim after a line that is no field, which Ruby skips", () => {
    assert.strictEqual(
      received(message("A: 1", "this is no field", "Received-SPF: pass", "B: 2", "", "Text")),
      "A: 1\r\nthis is no field\r\nB: 2\r\n\r\nText"
    )
  })

  it("leaves the fields of its parts alone", () => {
    const bytes = message(
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "Content-Type: message/rfc822",
      "",
      "Return-Path: <a@b.example>",
      "X-Spam-Score: 1",
      "",
      "--b--"
    )
    assert.strictEqual(received(bytes), latin1(bytes))
  })

  it.effect("has one X-Original-To and one Return-Path for an independent parser", () =>
    Effect.gen(function* () {
      const carried = DeliveredMail.carried(message(...forged, "From: a@b.example", ...forged, "", "Text"))
      const { headerLines } = yield* Effect.promise(() => simpleParser(Buffer.from(carried)))
      assert.deepStrictEqual(
        headerLines.map(({ key }) => key),
        ["x-original-to", "return-path", "received", "from"]
      )
    })
  )

  it("keeps the empty line in front of a body that begins with a blank", () => {
    for (const text of ["\r\r\n\tReturn-Path: <>\r\r\nX-Spam-Score: 9", "A: 1\r\n\r\n X-Spam-Score: 9\r\n"]) {
      assert.strictEqual(received(Buffer.from(text)), text)
    }
  })

  const pieces = [
    "X-Spam-Score: 9",
    "Subject: x",
    " ",
    "\t",
    "\r",
    "\n",
    "\r\n",
    "\r\r\n",
    "garbage",
    ":",
    "Return-Path: <>",
    "X-Original-To : v@x",
    "\0"
  ]
  it.prop(
    "contains no line with a claim in its header, for any line ends",
    { some: Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 25 }) },
    ({ some }) => {
      const text = received(Buffer.from(some.join(""), "latin1"))
      const [header = ""] = text.split(/(?<=\n|^)\r*\n/)
      for (const line of header.split(/[\r\n]/))
        assert.isFalse(CarriedMessage.isClaim(/^([^:]*?)\s*:/.exec(line)?.[1] ?? ""), JSON.stringify(some))
    },
    { arbitrary: { runs: 500 } }
  )
})
