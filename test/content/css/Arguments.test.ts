import { assert, describe, it } from "@effect/vitest"
import * as Arguments from "../../../src/content/css/Arguments.ts"
import * as CssText from "../../../src/content/css/CssText.ts"
import * as Declarations from "../../../src/content/css/Declarations.ts"
import * as Length from "../../../src/content/css/Length.ts"

describe("A value", () => {
  it("is split outside of brackets, and what it leaves open is closed", () => {
    assert.deepStrictEqual(Arguments.split("a, b(c, d) ,", ","), ["a", "b(c, d)", ""])
    assert.deepStrictEqual(Arguments.words(" a  b(c d)/e(f(g", " /"), ["a", "b(c d)", "e(f(g))"])
  })

  it("is a scale, or a shape that shows nothing", () => {
    const { isClippedByPath, scale } = Declarations.effects(
      CssText.declarations("clip-path:inset(50%);transform:scale(.5)")
    )
    assert.deepStrictEqual([isClippedByPath, scale], [true, 0.5])
    for (const other of ["clip-path:inset(50%) border-box", "clip-path:inset(50% 0)", "transform:scale(.5)scale(2)"]) {
      assert.isTrue(Declarations.effects(CssText.declarations(other)).isUnsure, other)
    }
  })

  it("is a product before a sum, with brackets as one operand", () => {
    assert.strictEqual(Length.resolve(Length.parse("calc(2*(1px + 3px) - 4px/2)") ?? Length.ofPixels(0), 16, 0), 6)
    assert.isUndefined(Length.parse("calc(1px) + 2px)"))
  })
})
