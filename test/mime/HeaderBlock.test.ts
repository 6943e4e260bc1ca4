import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as HeaderBlock from "../../src/mime/HeaderBlock.ts"

const fields = (message: string) =>
  HeaderBlock.fields(Buffer.from(message, "latin1")).map(({ name, value }) => [
    name,
    Buffer.from(value).toString("latin1")
  ])

describe("The header block", () => {
  it("returns every field in order with its bytes, repeated ones too", () => {
    assert.deepStrictEqual(fields("A: 1\r\nB:2\r\nA:  3 \r\n\r\nC: 4\r\n"), [
      ["A", " 1\r\n"],
      ["B", "2\r\n"],
      ["A", "  3 \r\n"]
    ])
  })

  it("keeps folded lines with their field", () => {
    assert.deepStrictEqual(fields("Subject: one\r\n two\r\n\tthree\r\nTo: x\r\n\r\n"), [
      ["Subject", " one\r\n two\r\n\tthree\r\n"],
      ["To", " x\r\n"]
    ])
  })

  it("ends at the first empty line, with CRLF or LF, or at the end of the message", () => {
    assert.deepStrictEqual(fields("A: 1\n\nB: 2\n"), [["A", " 1\n"]])
    assert.deepStrictEqual(fields("A: 1\r\nB: 2"), [
      ["A", " 1\r\n"],
      ["B", " 2"]
    ])
    assert.deepStrictEqual(fields("\r\nA: 1\r\n"), [])
    assert.deepStrictEqual(fields(""), [])
  })

  it("skips malformed lines before known mail fields", () => {
    assert.deepStrictEqual(
      fields(
        "From x Thu Jan  1 00:00:00 1970\r\nA: 1\r\nno colon\r\n: no name\r\nbad name: x\r\nGr\xfc\xdfe: x\r\nSubject: 2\r\n\r\n"
      ),
      [
        ["A", " 1\r\n"],
        ["Subject", " 2\r\n"]
      ]
    )
  })

  it("ends where text starts without an empty line", () => {
    assert.deepStrictEqual(fields("Subject: 1\r\nHello Bob,\r\nNote: this is text\r\n\r\nBye\r\n"), [
      ["Subject", " 1\r\n"]
    ])
    assert.deepStrictEqual(fields("Hello: 1\r\n--b\r\nContent-Type: text/plain\r\n\r\n"), [["Hello", " 1\r\n"]])
  })

  it("parses lines that end in CR alone or in CR CR LF", () => {
    assert.deepStrictEqual(fields("Subject: 1\rTo: 2\r\rbody\r\n"), [
      ["Subject", " 1\n"],
      ["To", " 2\n"]
    ])
    assert.deepStrictEqual(fields("Subject: 1\r\r\nTo: 2\r\r\n\r\r\nCc: no\r\r\n"), [
      ["Subject", " 1\r\r\n"],
      ["To", " 2\r\r\n"]
    ])
  })

  it("parses a first line with leading whitespace as a field", () => {
    assert.deepStrictEqual(fields(" From: a\r\nTo: b\r\n\r\n"), [
      ["From", " a\r\n"],
      ["To", " b\r\n"]
    ])
  })

  it("accepts whitespace before the colon (RFC 5322, section 4.5)", () => {
    assert.deepStrictEqual(fields("From : a\r\nTo\t: b\r\n\r\n"), [
      ["From", " a\r\n"],
      ["To", " b\r\n"]
    ])
  })

  it("returns the offsets of each field in the message", () => {
    const message = Buffer.from("A: 1\r\nB: 2\r\n 3\r\nC: 4\r\n\r\nbody")
    const [, b] = HeaderBlock.fields(message)
    assert.isDefined(b)
    assert.strictEqual(message.subarray(b.start, b.end).toString(), "B: 2\r\n 3\r\n")
  })

  it("parses a message in a view of a larger buffer", () => {
    const around = Buffer.from("X: 0\r\nA: 1\r\n\r\nbody")
    assert.deepStrictEqual(
      HeaderBlock.fields(around.subarray(6)).map(({ name }) => name),
      ["A"]
    )
  })

  it.prop("covers no byte twice, for any bytes", { message: Schema.Uint8Array }, ({ message }) => {
    let from = 0
    for (const { end, start } of HeaderBlock.fields(message)) {
      assert.isAtLeast(start, from)
      assert.isAbove(end, start)
      assert.isAtMost(end, message.length)
      from = end
    }
  })
})
