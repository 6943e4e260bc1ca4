import { assert, describe, it } from "@effect/vitest"
import * as Tag from "../../src/content/Tag.ts"

describe("The tag of a recipient", () => {
  it.for([
    ["agent+task.42@example.com", "task.42"],
    ["agent+a+b=c@example.com", "a+b=c"],
    ["+x@example.com", "x"],
    ['"john doe+a b"@example.com', "a b"],
    ["agent@example.com", null],
    ["agent+@example.com", null],
    ["agent@ex+ample.com", null],
    ["", null]
  ] as const)("of %j is %j", ([recipient, tag]) => {
    assert.strictEqual(Tag.of(recipient), tag)
  })
})
