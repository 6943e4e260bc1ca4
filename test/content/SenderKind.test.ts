import { assert, describe, it } from "@effect/vitest"
import * as HeaderValues from "../../src/content/HeaderValues.ts"
import * as SenderKind from "../../src/content/SenderKind.ts"

const values = (fields: ReadonlyArray<string>) =>
  HeaderValues.of(
    fields.map((field) => {
      const [name = "", value = ""] = field.split(/:\s*(.*)/s)
      return { name, value }
    })
  )

const of = (fields: ReadonlyArray<string>, envelopeFrom = "ada@sender.example") =>
  SenderKind.of(envelopeFrom, values(fields))

describe("The sender kind of a mail is", () => {
  it.for([
    ["person", []],
    ["person", ["Auto-Submitted: no"]],
    ["person", ["Auto-Submitted: No (by hand)"]],
    [
      "person",
      ["X-Auto-Response-Suppress: None", "Precedence: first-class", "Content-Type: multipart/mixed; boundary=b"]
    ],
    ["list", ["List-Id: Packers <packers.lists.sender.example>"]],
    ["list", ["list-unsubscribe: <mailto:x@sender.example>"]],
    ["list", ["Precedence: bulk"]],
    ["list", ["Precedence: List"]],
    ["auto", ["Auto-Submitted: auto-replied; owner-email=x"]],
    ["auto", ["auto-submitted: auto-generated (rejected)"]],
    ["auto", ["X-Auto-Response-Suppress: All"]],
    ["auto", ["X-Auto-Response-Suppress: DR, OOF, AutoReply"]],
    ["auto", ["Precedence: auto_reply"]],
    ["auto", ["List-Id: <x>", "Auto-Submitted: auto-generated"]],
    ["person", ["Auto-Submitted: no", "Auto-Submitted: auto-generated"]],
    ["bounce", ["Content-Type: multipart/report; report-type=delivery-status; boundary=b"]],
    ["bounce", ["Auto-Submitted: auto-replied", "Content-Type: Multipart/Report; boundary=b"]]
  ] as const)("a %s by its header: %j", ([kind, fields]) => {
    assert.strictEqual(of(fields), kind)
  })

  it("a bounce if its return path is empty", () => {
    assert.strictEqual(of([], ""), "bounce")
    assert.strictEqual(of(["List-Id: <x>", "Auto-Submitted: auto-replied"], ""), "bounce")
  })

  it("a list by its header, also for bounces and automatic mail", () => {
    const isList = (fields: ReadonlyArray<string>) => SenderKind.isList(values(fields))
    assert.isTrue(isList(["List-Id: <x>", "Auto-Submitted: auto-generated"]))
    assert.isTrue(isList(["List-Unsubscribe: <mailto:x@sender.example>"]))
    assert.isTrue(isList(["Precedence: bulk"]))
    assert.isFalse(isList(["Auto-Submitted: auto-generated", "Precedence: first-class"]))
  })
})
