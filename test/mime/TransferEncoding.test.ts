import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { simpleParser } from "mailparser"
import * as HeaderBlock from "../../src/mime/HeaderBlock.ts"
import * as PartHeader from "../../src/mime/PartHeader.ts"
import * as QuotedPrintable from "../../src/mime/QuotedPrintable.ts"
import * as TransferEncoding from "../../src/mime/TransferEncoding.ts"

type Encoding = "quoted-printable" | "base64" | "7bit" | "8bit"

const fieldsOf = (encoding: Encoding, type: string) =>
  Buffer.from(`Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`)

const decode = (encoding: Encoding, body: Uint8Array, type = "application/octet-stream") => {
  const header = PartHeader.read(HeaderBlock.fields(fieldsOf(encoding, type)), false)
  return TransferEncoding.decode({ header, fields: [], body, alternative: undefined, isFirst: true, isRoot: true })
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")
const said = (encoding: Encoding, body: string, type?: string) =>
  latin1(TransferEncoding.content(decode(encoding, Buffer.from(body, "latin1"), type)))

/** The result of mailparser for the same part. */
const foreign = (encoding: Encoding, body: Uint8Array) =>
  Effect.promise(() => simpleParser(Buffer.concat([fieldsOf(encoding, "application/octet-stream"), body]))).pipe(
    Effect.map(({ attachments: [part] }) => latin1(part?.content ?? new Uint8Array()))
  )

describe("Quoted-printable", () => {
  it.each([
    ["a=\r\nb=\nc", "abc"],
    ["a=", "a"],
    ["a= \t\r\nb", "ab"],
    ["a \t\r\nb \nc \rd ", "a\r\nb\nc\rd"],
    ["a =\r\n b", "a  b"],
    [" =20\r\n", "  \r\n"],
    ["=41=e4=E4=0d=00", "A\xe4\xe4\r\0"],
    ["=ZZ=4=\r\n1==", "=ZZA="],
    ["==41", "=A"],
    ["a= \r\t\nb", "ab"],
    ["=\rx\r\r\n", "=\rx\r\r\n"],
    ["a\0\xe4", "a\0\xe4"],
    ["", ""]
  ])("decodes %j as %j", (body, content) => {
    assert.strictEqual(said("quoted-printable", body), content)
  })

  it.each([
    ["a \t\r\nb \nc \rd ", "a \t\r\nb \nc \rd "],
    ["a= \t\r\nb ", "ab "],
    ["a =\r\n b =20\r\n", "a  b  \r\n"],
    ["=4 \r\n1 =\r\n \r\n", "=4 \r\n1  \r\n"],
    ["= \rx \r\r\n ", "= \rx \r\r\n "],
    ["a=\r\n=4 \n=\n1= ", "a=4 \n1"]
  ])("decodes %j with the blanks that the RFC drops as %j", (body, content) => {
    assert.strictEqual(latin1(QuotedPrintable.decode(Buffer.from(body, "latin1"), true)), content)
  })

  it.prop(
    "differs with these blanks at the ends of lines alone",
    {
      some: Arbitrary.array(Arbitrary.schema(Schema.Literals([" ", "\t", "=", "4", "\r\n", "\n", "\r", "=\r\n", "x"])))
    },
    ({ some }) => {
      const body = Buffer.from(some.join(""))
      const trimmed = (text: string) => text.replace(/[ \t]+(?=[\r\n]|$)/g, "")
      assert.strictEqual(
        trimmed(latin1(QuotedPrintable.decode(body, true))),
        trimmed(latin1(QuotedPrintable.decode(body)))
      )
      if (trimmed(some.join("")) === some.join(""))
        assert.deepStrictEqual(QuotedPrintable.decode(body, true), QuotedPrintable.decode(body))
    }
  )

  it.effect.prop(
    "round-trips with any line breaks, as in mailparser",
    { bytes: Schema.Uint8Array, widths: Arbitrary.array(Arbitrary.schema(Schema.Literals([1, 3, 10, 70]))) },
    ({ bytes, widths }) =>
      Effect.gen(function* () {
        const characters = [...bytes].map((byte) =>
          byte > 0x20 && byte < 0x7f && byte !== 0x3d
            ? String.fromCharCode(byte)
            : `=${byte.toString(16).padStart(2, "0")}`
        )
        const lines = [...widths.map((width) => characters.splice(0, width).join("")), characters.join("")]
        const body = Buffer.from(lines.join("=\r\n"))
        assert.strictEqual(latin1(decode("quoted-printable", body).content), latin1(bytes))
        assert.strictEqual(yield* foreign("quoted-printable", body), latin1(bytes))
      })
  )

  const pieces = [
    "=",
    "=\r\n",
    "=\n",
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "=41",
    "=c3=A4",
    "=ZZ",
    "=4",
    "a",
    "F",
    "\0",
    "\xff"
  ]
  it.effect.prop(
    "with damage is decoded as in mailparser",
    { some: Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 20 }) },
    ({ some }) =>
      Effect.map(foreign("quoted-printable", Buffer.from(some.join(""), "latin1")), (theirs) =>
        assert.strictEqual(said("quoted-printable", some.join("")), theirs)
      ),
    { arbitrary: { runs: 300 } }
  )
})

describe("Base64", () => {
  it.each([
    ["SGVsbG8=", "Hello"],
    ["SGVs\r\nbG8", "Hello"],
    ["S G\tV\ns\rb\fG8 =\r\n", "Hello"],
    ["SGVsbG8=SGVsbG8=\r\nIQ", "HelloHello!"],
    ["SGVs=====bG8==", "Hello"],
    ["====", ""],
    ["", ""]
  ])("decodes %j as %j without loss", (body, content) => {
    assert.strictEqual(said("base64", body), content)
    assert.isTrue(decode("base64", Buffer.from(body)).isWhole)
  })

  it.each([
    ["SGVs!bG8=", "Hello"],
    ["SGV-sb_G8", "Hello"],
    ["SGVsbG8\0", "Hello"],
    ["SGVsbG8hI", "Hello!"],
    ["SGVsb=SGVsbG8", "HelHello"],
    ["\xd3\xc7", ""]
  ])("decodes %j as %j and reports the loss", (body, content) => {
    assert.strictEqual(said("base64", body), content)
    assert.isFalse(decode("base64", Buffer.from(body, "latin1")).isWhole)
  })

  it("of text ends before legible text, but of a file does not", () => {
    const body = "SGVsbG8gdGhlcmUh\r\n-- \r\nlist footer"
    assert.strictEqual(said("base64", body, "text/plain"), "Hello there!-- \r\nlist footer")
    assert.isTrue(decode("base64", Buffer.from(body), "text/plain").isWhole)
    assert.isFalse(decode("base64", Buffer.from(body)).isWhole)
  })

  it.effect.prop(
    "in lines of equal length is decoded as in other lines after any change",
    {
      bytes: Schema.Uint8Array,
      changes: Arbitrary.array(
        Arbitrary.schema(
          Schema.Struct({
            place: Schema.Int,
            mark: Schema.Literals(["=", "==", "-", "_", "!", " ", "\r\n", "\0", "A"])
          })
        )
      )
    },
    ({ bytes, changes }) =>
      Effect.sync(() => {
        let even = Buffer.from(bytes)
          .toString("base64")
          .replace(/.{8}(?=.)/g, "$&\r\n")
        for (const { mark, place } of changes.slice(0, 3)) {
          const at = Math.abs(place) % (even.length + 1)
          even = even.slice(0, at) + mark + even.slice(at)
        }
        const [inEven, inUneven] = [even, ` ${even}`].map((body) => decode("base64", Buffer.from(body, "latin1")))
        assert.strictEqual(latin1(inEven?.content ?? bytes), latin1(inUneven?.content ?? bytes))
        assert.strictEqual(inEven?.isWhole, inUneven?.isWhole)
      })
  )

  it.effect.prop(
    "round-trips in lines of any length, as in mailparser",
    { bytes: Schema.Uint8Array, width: Arbitrary.schema(Schema.Literals([1, 5, 60, 76])) },
    ({ bytes, width }) =>
      Effect.gen(function* () {
        const text = Buffer.from(bytes).toString("base64")
        const body = Buffer.from(text.replace(new RegExp(`.{${width}}`, "g"), "$&\r\n"))
        const { content, isWhole } = decode("base64", body)
        assert.deepStrictEqual([latin1(content), isWhole], [latin1(bytes), true])
        assert.strictEqual(yield* foreign("base64", body), latin1(bytes))
      })
  )

  const pieces = ["QUJD", "Q", "QQ", "QUI", "=", "==", "QUI=", "\r\n", " ", "!", "-", "_", "\0", "/", "+"]
  it.effect.prop(
    "with damage is decoded as in mailparser",
    { some: Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 20 }) },
    ({ some }) =>
      Effect.map(foreign("base64", Buffer.from(some.join(""))), (theirs) =>
        assert.strictEqual(said("base64", some.join("")), theirs)
      ),
    { arbitrary: { runs: 300 } }
  )
})

describe("A body without transfer encoding", () => {
  it.each(["7bit", "8bit"] as const)("is unchanged: %s", (encoding) => {
    assert.strictEqual(said(encoding, "=41 \r\n\xe4\0 =\r\n"), "=41 \r\n\xe4\0 =\r\n")
  })
})
