import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as HeaderBlock from "../../src/mime/HeaderBlock.ts"

const fields = (message: string) =>
  HeaderBlock.fields(Buffer.from(message, "latin1")).map(({ name, value }) => [
    name,
    Buffer.from(value).toString("latin1")
  ])

describe("The header block", () => {
  it("gives every field in order, repeated ones too, with its bytes as they stand", () => {
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

  it("ends at the first empty line, with CRLF or LF, or where the message ends", () => {
    assert.deepStrictEqual(fields("A: 1\n\nB: 2\n"), [["A", " 1\n"]])
    assert.deepStrictEqual(fields("A: 1\r\nB: 2"), [
      ["A", " 1\r\n"],
      ["B", " 2"]
    ])
    assert.deepStrictEqual(fields("\r\nA: 1\r\n"), [])
    assert.deepStrictEqual(fields(""), [])
  })

  it("passes over lines that are no field where fields of mail come behind them", () => {
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

  it("ends where a text begins without an empty line before it", () => {
    assert.deepStrictEqual(fields("Subject: 1\r\nHello Bob,\r\nNote: this is text\r\n\r\nBye\r\n"), [
      ["Subject", " 1\r\n"]
    ])
    assert.deepStrictEqual(fields("Hello: 1\r\n--b\r\nContent-Type: text/plain\r\n\r\n"), [["Hello", " 1\r\n"]])
  })

  it("reads lines that end in carriage returns alone, or in two and a line feed", () => {
    assert.deepStrictEqual(fields("Subject: 1\rTo: 2\r\rbody\r\n"), [
      ["Subject", " 1\n"],
      ["To", " 2\n"]
    ])
    assert.deepStrictEqual(fields("Subject: 1\r\r\nTo: 2\r\r\n\r\r\nCc: no\r\r\n"), [
      ["Subject", " 1\r\r\n"],
      ["To", " 2\r\r\n"]
    ])
  })

  it("takes a first line that begins with a blank for a field, as there is nothing it could go on with", () => {
    assert.deepStrictEqual(fields(" From: a\r\nTo: b\r\n\r\n"), [
      ["From", " a\r\n"],
      ["To", " b\r\n"]
    ])
  })

  it("takes a name with blanks before its colon (RFC 5322, section 4.5)", () => {
    assert.deepStrictEqual(fields("From : a\r\nTo\t: b\r\n\r\n"), [
      ["From", " a\r\n"],
      ["To", " b\r\n"]
    ])
  })

  it("gives offsets that cut the field out of the message", () => {
    const message = Buffer.from("A: 1\r\nB: 2\r\n 3\r\nC: 4\r\n\r\nbody")
    const [, b] = HeaderBlock.fields(message)
    assert.isDefined(b)
    assert.strictEqual(message.subarray(b.start, b.end).toString(), "B: 2\r\n 3\r\n")
  })

  it("reads a message that is a view into other bytes", () => {
    const around = Buffer.from("X: 0\r\nA: 1\r\n\r\nbody")
    assert.deepStrictEqual(
      HeaderBlock.fields(around.subarray(6)).map(({ name }) => name),
      ["A"]
    )
  })

  it.prop("covers no byte twice, whatever the bytes are", { message: Schema.Uint8Array }, ({ message }) => {
    let from = 0
    for (const { end, start } of HeaderBlock.fields(message)) {
      assert.isAtLeast(start, from)
      assert.isAbove(end, start)
      assert.isAtMost(end, message.length)
      from = end
    }
  })
})
