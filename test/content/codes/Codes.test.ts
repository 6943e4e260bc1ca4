import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as CodeScore from "../../../scripts/CodeScore.ts"
import * as Extraction from "../../../src/content/codes/Extraction.ts"
import { see } from "../../../src/content/html/SeenHtml.ts"
import * as Mime from "../../../src/mime/Mime.ts"

const mail = (subject: string, text: string | null, html?: string) =>
  Extraction.of({
    subject,
    text,
    html: html === undefined ? [] : [see(html)],
    listUnsubscribe: undefined,
    listUnsubscribePost: undefined,
    isList: false
  })

const postOf = (subject: string, text: string) =>
  Extraction.of({ subject, text, html: [], listUnsubscribe: undefined, listUnsubscribePost: undefined, isList: true })
    .code

const codeOf = (...of: Parameters<typeof mail>) => mail(...of).code

/** The code of a text after a sentence that announces one. */
const announced = (code: string) => codeOf("Your verification code", `Enter this code to sign in:\n\n${code}\n`)?.value

const labelled = readFileSync(new URL("../../fixtures/codes.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Option.getOrThrow(CodeScore.parse(line)))

const bare = (code: string | null | undefined) => code?.replace(/[\s-]/g, "")

describe("Code extraction", () => {
  const withCode = labelled.filter(({ want }) => want.code !== null)
  const without = labelled.filter(({ want }) => want.code === null)

  it("finds the code in 60 labelled mails of 35 languages, and none in 35 without one", () => {
    assert.isAtLeast(withCode.length, 60)
    assert.isAtLeast(new Set(withCode.map(({ lang }) => lang)).size, 35)
    assert.isAtLeast(without.length, 35)
  })

  it.for(withCode.map((each) => [`${each.lang}, ${each.subject}`, each] as const))(
    "returns the code as a person would type it: %s",
    ([, each]) => {
      assert.strictEqual(bare(CodeScore.find(each).code?.value), bare(each.want.code))
    }
  )

  it("is certain for each labelled mail except one with an amount and an account number", () => {
    const unsure = withCode.filter((each) => CodeScore.find(each).code?.confidence !== "high")
    assert.deepStrictEqual(
      unsure.map(({ subject }) => subject),
      ["mTAN für Ihren Auftrag"]
    )
  })

  it.for(without.map((each) => [`${each.lang}, ${each.subject}`, each] as const))(
    "is never certain without a code: %s",
    ([, each]) => {
      assert.notStrictEqual(CodeScore.find(each).code?.confidence, "high")
    }
  )

  it("returns the code to type beside the code as shown", () => {
    assert.deepStrictEqual(codeOf("Your code", "Your verification code is ٤٨٢ ٩١٣."), {
      value: "482913",
      shown: "٤٨٢ ٩١٣",
      source: "text",
      confidence: "high"
    })
    for (const [shown, value] of [
      ["482913", "482913"],
      ["482 913", "482913"],
      ["482-913", "482913"],
      ["482\u00a0913", "482913"],
      ["4 8 2 9 1 3", "482913"],
      ["48 29 13", "482913"],
      ["４８２９１３", "482913"],
      ["४८२९१३", "482913"],
      ["G-482913", "482913"],
      ["ABC-DEF", "ABC-DEF"],
      ["B7KQ4", "B7KQ4"],
      ["x7k2p9q", "x7k2p9q"],
      ["1048", "1048"],
      ["9014827733", "9014827733"],
      ["**482913**", "482913"],
      ["「482913」", "482913"]
    ] as const) {
      assert.strictEqual(announced(shown), value, shown)
    }
  })

  it("rejects dates, money, telephone numbers, addresses and parts of them", () => {
    for (const text of [
      "22.11.2026",
      "2026-11-22",
      "14:32",
      "$4829",
      "4829 €",
      "EUR 4829",
      "4,829.13",
      "48.2913",
      "+1 415 555 0123",
      "(415) 555-0123",
      "https://acme.example/482913",
      "ada482913@acme.example",
      "#482913",
      "203.0.113.77",
      "4829 1304 7719 0034",
      "CORRECT",
      "123",
      "12345678901"
    ]) {
      assert.isUndefined(announced(text), text)
    }
  })

  it("rejects the groups of IPv6 and hardware addresses", () => {
    for (const address of [
      "2001:db8::4829",
      "2001:db8:85a3:4829:0:8a2e:370:7334",
      "fe80::4829:1",
      "::4829",
      "4829::1",
      "fe80:abcd:cdef:4829",
      "aa:bb:cc:4829"
    ]) {
      assert.isNull(codeOf("New sign-in", `OTP was removed from your account from ${address}. Was it you?`), address)
    }
    assert.strictEqual(announced("Code:482913"), "482913")
    assert.strictEqual(announced("验证码:482913"), "482913")
  })

  const group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))

  it.prop(
    "finds none in any IPv6 address",
    { groups: Schema.Array(group), short: Schema.Boolean },
    ({ groups, short }) => {
      const hex = ["2001", "db8", ...groups.slice(0, 6).map((each) => each.toString(16))]
      const address =
        short || hex.length < 8 ? `${hex.slice(0, 4).join(":")}::${hex.slice(4, 7).join(":")}` : hex.join(":")
      const { code } = mail("Security code", `Your login code was used from ${address}.`)
      assert.isNull(code, address)
    }
  )

  it("is never certain of a year or date within a sentence", () => {
    for (const text of [
      "Your verification code of 2026 expires in 10 minutes.",
      "Verification code 2024",
      "Your login code 20261122 expires in 10 minutes"
    ]) {
      assert.notStrictEqual(codeOf("Sign in", text)?.confidence, "high", text)
    }
  })

  it("is never certain in a post of a mailing list or newsletter", () => {
    for (const { confidence, mail } of withCode.flatMap((each) => {
      const { code } = CodeScore.find({ ...each, list: true })
      return code === null ? [] : [{ confidence: code.confidence, mail: each }]
    })) {
      assert.strictEqual(confidence, "low", mail.subject ?? "")
    }
    assert.deepStrictEqual(postOf("Re: login", "My verification code 482913 is not accepted."), {
      value: "482913",
      shown: "482913",
      source: "text",
      confidence: "low"
    })
  })

  it.each([
    "List-Id: <dev.acme.example>",
    "List-Unsubscribe: <mailto:off@acme.example>",
    "Precedence: bulk",
    "In-Reply-To: <1@acme.example>"
  ])("is uncertain in a message with %s", (field) => {
    const confidence = (header: string) =>
      Mime.read(Buffer.from(`${header}Subject: Login\r\n\r\nYour login code is 482913.\r\n`)).extracted().code
        ?.confidence
    assert.strictEqual(confidence(""), "high")
    assert.strictEqual(confidence(`${field}\r\n`), "low")
  })

  it("returns a word of letters directly behind a label or in brackets with it", () => {
    for (const [text, value] of [
      ["Your verification code: ORANGE", "ORANGE"],
      ["Your verification code (ORANGE) expires soon", "ORANGE"],
      ["Your login code:\n\nKAEOPT", "KAEOPT"],
      ["Your login code is KXTPQZ.", "KXTPQZ"],
      ["KXTPQZ is your Acme verification code", "KXTPQZ"],
      ["Ваш код подтверждения: KAEOPT", "KAEOPT"],
      ["Code de vérification : KAEOPT", "KAEOPT"],
      ["您的验证码是 KAEOPT，10 分钟内有效", "KAEOPT"],
      ["認証コード：KAEOPT", "KAEOPT"],
      ["رمز التحقق: KAEOPT", "KAEOPT"],
      ["Your login code:\n\nhKxPqRzW", "hKxPqRzW"]
    ] as const) {
      const code = codeOf("Acme", text)
      assert.deepStrictEqual([code?.value, code?.confidence], [value, "high"], text)
    }
    for (const text of [
      "Your login code is VALID for 10 minutes",
      "Enter this code to sign in:\n\nCORRECT",
      "Your code for GITHUB was used",
      "Enter the login code in\n\nLinkedIn"
    ]) {
      assert.notStrictEqual(codeOf("Acme login", text)?.confidence, "high", text)
    }
  })

  it("is certain if the whole mail is a sentence with the code", () => {
    for (const text of ["Your code is 394758.", "Ihr Code lautet 394758", "Il tuo codice è 394758.", "Код: 394758"]) {
      assert.deepStrictEqual([codeOf("Acme", text)?.value, codeOf("Acme", text)?.confidence], ["394758", "high"], text)
    }
  })

  it.each([
    ["Your confirmation code is ABC-D12.", "ABC-D12"],
    ["Your confirmation code is ABC-1D2 and expires soon", "ABC-1D2"],
    ["482913 is OTP for transaction of Rs. 5000 on your card XX1234", "482913"],
    ["This replaces your previous code. Your login code is 482913.", "482913"]
  ])("is certain in a sentence: %s", (text, value) => {
    assert.deepInclude(codeOf("Acme", text), { value, confidence: "high" })
  })

  it("is no name with a number in a sentence", () => {
    assert.isNull(codeOf("Acme", "Use AES-256, SHA-256 and ISO-8859-1 to verify the code of CVE-2026-1234"))
  })

  it.each([
    "Your old code 111222 expired. Your new code is 482913",
    "Your previous code 111222 is no longer valid. Your new code is 482913",
    "Ihr alter Code 111222 ist abgelaufen. Ihr neuer Code lautet 482913",
    "Votre ancien code 111222 a expiré. Votre nouveau code est 482913"
  ])("is the new one beside an old one: %s", (text) => {
    assert.strictEqual(codeOf("Acme", text)?.value, "482913")
  })

  it("is never certain beside the number of a booking, meeting or payment", () => {
    for (const text of [
      "Flight AB8080, confirmation code KXTPQZ, seat 12A",
      "Meeting ID: 734 198\nPasscode: 734198",
      "Sort code 20-00-00, account 51125112. Enter them to verify your bank."
    ]) {
      assert.notStrictEqual(codeOf("Verify your account", text)?.confidence, "high", text)
    }
  })

  it.each([
    "Color code: FF5733",
    "Commodity code: 84829100",
    "Diagnosis code J4520, please verify with your insurance.",
    "Entry code: 4829",
    "Game PIN: 4829137",
    "Enter parking code 4829 at the barrier",
    "Airline confirmation code\n\nK7XPQ2",
    "Code couleur : 482913",
    "Share OTP 4829 with the delivery partner",
    'I get "Login failed with code 50126" when I sign in. Can you verify?',
    "We hard-code the OTP 123456, please verify",
    "Verify the code with test 771204"
  ])("is never certain behind the name of another code: %s", (text) => {
    assert.notStrictEqual(codeOf("Acme", text)?.confidence, "high")
  })

  it.each([
    "Hi all,\n\nhere is the zoom link: https://zoom.us/j/98765432101\n\nPasscode: 482913",
    "Join here: https://us02web.zoom.us/j/81234567890?pwd=abcdefghijklmnopqrstuvwxyz012345.1\n\nPasscode: 482913",
    "Meeting-ID: 987 6543 2101\nKenncode: 482913",
    "Rejoindre par téléphone\n+33 1 23 45 67 89\nCode : 482913",
    "Asha Rao, 12 MG Road\nBengaluru\nPin code - 560001"
  ])("is never certain below the lines of a meeting, telephone or address: %s", (text) => {
    for (const subject of ["Acme", "Please confirm", "Sign in to the meeting"]) {
      assert.notStrictEqual(codeOf(subject, text)?.confidence, "high", subject)
    }
  })

  it("is certain below lines of its own sign-in, and with names of companies", () => {
    for (const [subject, text] of [
      ["Acme", "Device: Chrome on Linux\nVerification code: 482913"],
      ["Sign in to Acme", "A call about your sign-in, from your phone.\nCode: 482913"],
      ["Acme", "Your OTP to log in to the delivery partner app is 482913."],
      ["Your next trip", "Your sign-in code is 482913."],
      ["Acme", "Your United Airlines verification code is 482913"],
      ["Zoom: sign in", "We noticed a sign-in to your Zoom account. Enter the code:\n\n482913\n\nhttps://zoom.us"]
    ] as const) {
      assert.deepInclude(codeOf(subject, text), { value: "482913", confidence: "high" }, text)
    }
  })

  it("is never certain under the subject of a booking without a word about time or use", () => {
    const text = "Confirmation code: 482913"
    assert.strictEqual(codeOf("Your reservation at Nopa", text)?.confidence, "low")
    assert.strictEqual(codeOf("Your reservation at Nopa", `${text}. It expires in 10 minutes.`)?.confidence, "high")
    assert.strictEqual(codeOf("Acme", text)?.confidence, "high")
  })

  it("is never certain in source code, changelogs and documentation", () => {
    for (const text of [
      `const otp = verify({ otp: "123456", code: '482913' })`,
      `{"otpkey": "31323334"} creates a login token`,
      "- 0343699d7: add token storage to the login",
      "for dead code\n 3352  9.0.1155    cannot use a class",
      "Erlang/OTP (tftp_file modules) (closes: 1128651).",
      "Use the Apache2 plugin to log in with an OTP",
      "token lifetime = identity.expires_in * 1000 to verify",
      "The token of RFC 8628 is no login code"
    ]) {
      assert.notStrictEqual(codeOf("Login tokens", text)?.confidence, "high", text)
    }
  })

  it("searches subject, text and HTML, and names the source", () => {
    assert.strictEqual(codeOf("482913 is your verification code", null)?.source, "subject")
    assert.strictEqual(codeOf("Hello", "Your verification code is 482913")?.source, "text")
    assert.strictEqual(codeOf("Hello", null, "<p>Your verification code is 482913</p>")?.source, "html")
    assert.strictEqual(
      codeOf("Hello", "Please look at the HTML.", "<p>Your verification code is 482913</p>")?.source,
      "html"
    )
  })

  const said = "Your verification code is 482913."

  it.each([
    "<p>Hello. Call us: 1-555-482-9130</p>",
    "<p>Call us: +1 482 913 5520</p>",
    "<p>Order 99482913001 has shipped</p>",
    "<p>Order 12-482913 has shipped</p>",
    "<p>Serial KX482913</p>"
  ])("is `low` if the HTML shows it within a longer number or word only: %s", (html) => {
    assert.strictEqual(codeOf("Hello", said, html)?.confidence, "low")
  })

  it.each([
    "<p>Code: 482-913</p>",
    "<p>Code: 482 – 913</p>",
    "<p>Code 482913 10 minutes</p>",
    "<p>验证码482913，10分钟内有效</p>",
    "<table><tr><td>4<td>8<td>2<td>9<td>1<td>3</table><p>10 minutes</p>",
    "<p>1 482913 9</p><p>482913</p>"
  ])("is `high` if the HTML shows it in another form: %s", (html) => {
    assert.strictEqual(codeOf("Hello", said, html)?.confidence, "high")
  })

  it("ignores quoted and hidden text", () => {
    assert.isNull(codeOf("Re: hello", "I did not ask for this.\n\n> Your verification code is 482913"))
    assert.isNull(codeOf("Re: hello", "No.\n\n-----Original Message-----\nYour verification code is 482913"))
    assert.isNull(codeOf("Re: hello", null, "<p>No.</p><blockquote>Your verification code is 482913</blockquote>"))
    assert.isNull(codeOf("Hello", null, '<p>Hi.</p><p style="display:none">Your verification code is 482913</p>'))
  })

  it("is uncertain without a word for login or verification", () => {
    assert.strictEqual(codeOf("Your stay", "Hi, the door code is 482913. See you!")?.confidence, "low")
    assert.isNull(codeOf("Your stay", "Hi, we are at 482913 and the key is under the mat."))
  })

  it("is uncertain with two candidates", () => {
    const code = codeOf("Your verification codes", "Your verification codes:\n\n482913\n\n771046\n")
    assert.strictEqual(code?.confidence, "low")
    assert.strictEqual(
      codeOf("Hello", "Your login code is 482913", "<p>Your login code is 771046</p>")?.confidence,
      "low"
    )
  })

  it("is uncertain with another value of the same form in the sentence", () => {
    for (const text of [
      "Use code 123456 or 654321",
      "Your verification code for Acme is 123456, for Bcme it is 654321"
    ]) {
      assert.strictEqual(codeOf("Your code", text)?.confidence, "low", text)
    }
    assert.strictEqual(codeOf("Your code", "Your sign-in code is 123456. Again: 123456")?.confidence, "high")
  })

  it("prefers the code of the last line, bound to a site", () => {
    assert.deepStrictEqual(codeOf("Hello", "Bestellung 771046\n\n@acme.example #482913"), {
      value: "482913",
      shown: "482913",
      source: "text",
      confidence: "high"
    })
    assert.isNull(codeOf("Hello", "@acme.example #482913\n\nand more"))
  })

  it("searches the first 64 KiB only", () => {
    const code = "Your verification code is 482913\n"
    assert.strictEqual(codeOf("", "x\n".repeat(32_000) + code)?.value, "482913")
    assert.isNull(codeOf("", "x\n".repeat(33_000) + code))
    assert.isNull(codeOf("", null, `<p>${"x ".repeat(33_000)}</p><p>${code}</p>`))
  })

  it("does not depend on earlier mails", () => {
    const first = labelled.map((each) => JSON.stringify(CodeScore.find(each)))
    for (const each of labelled.toReversed()) CodeScore.find(each)
    assert.deepStrictEqual(
      labelled.map((each) => JSON.stringify(CodeScore.find(each))),
      first
    )
  })
})
