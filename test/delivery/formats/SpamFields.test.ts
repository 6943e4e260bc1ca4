import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Mailgun from "../../../src/delivery/formats/Mailgun.ts"
import * as Postmark from "../../../src/delivery/formats/Postmark.ts"
import * as Raw from "../../../src/delivery/formats/Raw.ts"
import * as Sendgrid from "../../../src/delivery/formats/Sendgrid.ts"
import { type Spam, unscanned } from "../../../src/model/Spam.ts"
import { message } from "../../mime/Message.ts"
import { of, request } from "./DeliveredMail.ts"
import * as Form from "./Form.ts"

const scan: Spam = {
  verdict: "spam",
  score: 15.1,
  required: 15,
  symbols: [
    { name: "GTUBE", score: 15.2 },
    { name: "MIME_GOOD", score: -0.1 }
  ],
  virus: null
}

/** A mail whose sender claims that it is no spam. */
const forged = message("From: a@b.example", "X-Spam-Status: No", "X-Mailgun-Sflag: No", "Subject: Hi", "", "Text")
const mailOf = (spam?: Spam) => of(forged, spam === undefined ? {} : { spam })
const spam = mailOf(scan)

const bodyOf = (mail: ReturnType<typeof of>) => Buffer.from(request(Raw.format, mail).body).toString()

describe("A scanned mail", () => {
  it("has X-Spam fields of the scanner alone in the raw format", () => {
    assert.match(
      bodyOf(spam),
      /^X-Original-To: [^\r]+\r\nX-Spam-Status: Yes\r\nX-Spam-Score: 15\.1\r\nX-Spam-Tests: GTUBE,\r\n\tMIME_GOOD\r\nReturn-Path/
    )
    assert.notInclude(bodyOf(spam), "X-Spam-Status: No")
    assert.match(bodyOf(mailOf({ ...scan, verdict: "clean", score: -0.1 })), /X-Spam-Status: No\r\nX-Spam-Score: -0\.1/)
    assert.match(bodyOf(mailOf({ ...scan, verdict: "virus", virus: "Eicar" })), /X-Spam-Status: Yes/)
  })

  it("has Postmark's fields in Headers", () => {
    const { Headers } = JSON.parse(Buffer.from(request(Postmark.format, spam).body).toString())
    assert.deepStrictEqual(
      Headers.filter(({ Name }: { readonly Name: string }) => /^X-Spam/.test(Name)),
      [
        { Name: "X-Spam-Status", Value: "Yes" },
        { Name: "X-Spam-Score", Value: "15.1" },
        { Name: "X-Spam-Tests", Value: "GTUBE,MIME_GOOD" }
      ]
    )
  })

  it.effect("has Mailgun's fields in the form, in message-headers and in body-mime", () =>
    Effect.gen(function* () {
      const parsed = yield* Form.read(request(Mailgun.format, spam))
      assert.deepStrictEqual([parsed.value("X-Mailgun-Sflag"), parsed.value("X-Mailgun-Sscore")], ["Yes", "15.1"])
      assert.deepStrictEqual(JSON.parse(parsed.value("message-headers") ?? "").slice(0, 2), [
        ["X-Mailgun-Sflag", "Yes"],
        ["X-Mailgun-Sscore", "15.1"]
      ])
      const mime = yield* Form.read(request(Mailgun.format, spam, { url: "https://app.example/mime" }))
      assert.match(mime.value("body-mime") ?? "", /^X-Mailgun-Sflag: Yes\r\nX-Mailgun-Sscore: 15\.1\r\nX-Original-To/)
    })
  )

  it.effect("has SendGrid's spam_score and spam_report, parsed and raw", () =>
    Effect.gen(function* () {
      for (const format of [Sendgrid.format, Sendgrid.rawFormat]) {
        const { value } = yield* Form.read(request(format, spam))
        assert.strictEqual(value("spam_score"), "15.1")
        assert.match(
          value("spam_report") ?? "",
          /\(15\.1 points, 15 required\)[\s\S]*\n15\.2 GTUBE\n-0\.1 MIME_GOOD\n$/
        )
      }
    })
  )

  it.effect("says nothing where the scanner said nothing", () =>
    Effect.gen(function* () {
      for (const mail of [mailOf(), mailOf(unscanned)]) {
        assert.notMatch(bodyOf(mail), /x-spam/i)
        assert.notMatch(Buffer.from(request(Postmark.format, mail).body).toString(), /"X-Spam/i)
        const { value } = yield* Form.read(request(Sendgrid.format, mail))
        assert.isUndefined(value("spam_score"))
        assert.isUndefined((yield* Form.read(request(Mailgun.format, mail))).value("X-Mailgun-Sflag"))
      }
    })
  )
})
