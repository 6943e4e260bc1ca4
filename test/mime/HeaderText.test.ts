import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as HeaderBlock from "../../src/mime/HeaderBlock.ts"
import * as HeaderText from "../../src/mime/HeaderText.ts"

const value = (text: string | Uint8Array) => {
  const [field] = HeaderBlock.fields(
    Buffer.concat([
      Buffer.from("Subject: "),
      typeof text === "string" ? Buffer.from(text) : text,
      Buffer.from("\r\n\r\n")
    ])
  )
  assert.isDefined(field)
  return HeaderText.value(field)
}

describe("The text of a header field", () => {
  it.each([
    ["=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"],
    ["=?UTF-8?b?R3LDvMOfZQ==?=", "Grüße"],
    ["=?iso-8859-1?Q?Gr=FC=DFe?=", "Grüße"],
    ["=?windows-1252?Q?=80_=93hi=94?=", "€ “hi”"],
    ["=?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=", "日本語"],
    ["=?Shift_JIS?B?k/qWe4zq?=", "日本語"],
    ["=?EUC-KR?B?x9GxucDO?=", "한국인"],
    ["=?GB18030?B?xOO6ww==?=", "你好"],
    ["=?Big5?B?p0Gmbg==?=", "你好"],
    ["=?KOI8-R?B?8NLJ18XU?=", "Привет"],
    ["=?utf-8?Q?one?= =?utf-8?Q?_two?=", "one two"],
    ["=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=", "Grüße"],
    ["before =?utf-8?Q?=C3=A4?= after", "before ä after"],
    ["=?utf-8*de?Q?sch=C3=B6n?=", "schön"],
    ["=?iso-2022-kr?B?GyQpQw4+SDNnR088PD9kDyAOPDwwaA8=?=", "안녕하세요 세계"],
    ["=?hz-gb-2312?Q?~{Dc:C~}?=", "你好"],
    ["=?x-mac-cyrillic?Q?=8F=F0=E8=E2=E5=F2?=", "Привет"],
    ["=?utf-7?Q?Hi_+Jjo-?=", "Hi ☺"],
    ["=?unicode-1-1-utf-7?Q?Hi_+Jjo-?=", "Hi ☺"],
    ["=?utf-8?Q?never closed =?utf-8?Q?closed?=", "=?utf-8?Q?never closed closed"],
    ["=?iso-8859-1?Q?a?= =?utf-8?Q?b?= c", "ab c"],
    ["plain", "plain"],
    ["Grüße, roh", "Grüße, roh"],
    ["folded\r\n over\r\n\tlines", "folded over\tlines"]
  ])("reads %j as %j", (raw, read) => {
    assert.strictEqual(value(raw), read)
  })

  it("decodes raw bytes other than UTF-8 as windows-1252", () => {
    assert.strictEqual(value(Buffer.from("Gr\xfc\xdfe \x80", "latin1")), "Grüße €")
  })

  it("decodes raw bytes in a Q-encoded word with the charset of the word", () => {
    assert.strictEqual(value(Buffer.from("=?iso-8859-1?Q?Gr\xfc\xdfe?=", "latin1")), "Grüße")
    assert.strictEqual(value(Buffer.from("=?koi8-r?Q?\xf0\xd2=C9\xd7\xc5\xd4?=", "latin1")), "Привет")
    assert.strictEqual(value("=?utf-8?Q?Grüße?="), "Grüße")
  })

  it("decodes UTF-8 with one invalid byte, and Japanese without a charset", () => {
    assert.strictEqual(value(Buffer.from("Gr\xc3\xbc\xc3\x9fe \x96 us", "latin1")), "Grüße – us")
    assert.strictEqual(value("\u001b$BF|K\\8l\u001b(B"), "日本語")
  })

  it("contains no NUL, lone surrogate or line break", () => {
    assert.strictEqual(value("a\u0000b =?utf-8?Q?c=00d?="), "ab cd")
    assert.strictEqual(value("=?utf-8?Q?To:_x=0D=0ABcc:_y?="), "To: x Bcc: y")
    assert.strictEqual(value("a\rb"), "a b")
    assert.isTrue(value("=?utf-16be?B?2AA=?=").isWellFormed())
    assert.strictEqual(HeaderText.clean("\ud800a\udc00\u0000"), "\ufffda\ufffd")
    assert.strictEqual(HeaderText.oneLine(" a\r\n\r\nb\nc "), "a b c")
  })

  it("keeps an encoded word of an unknown charset or encoding readable", () => {
    assert.include(value("=?x-nobody-knows?Q?abc?="), "abc")
    assert.include(value("=?utf-8?X?abc?="), "abc")
    assert.include(value("=?utf-8?B?!!!?= tail"), "tail")
  })

  it.prop("is valid for any bytes", { bytes: Schema.Uint8Array }, ({ bytes }) => {
    for (const field of HeaderBlock.fields(Buffer.concat([Buffer.from("X: "), bytes]))) {
      const text = HeaderText.value(field)
      assert.isTrue(text.isWellFormed())
      assert.notMatch(text, /[\0\r\n]/)
    }
  })
})
