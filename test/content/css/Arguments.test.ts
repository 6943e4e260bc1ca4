import { assert, describe, it } from "@effect/vitest"
import * as Arguments from "../../../src/content/css/Arguments.ts"
import { Effects } from "../../../src/content/css/Effects.ts"
import * as Length from "../../../src/content/css/Length.ts"
import * as Shapes from "../../../src/content/css/Shapes.ts"

describe("A value", () => {
  it("is split outside of brackets, and what it leaves open is closed", () => {
    assert.deepStrictEqual(Arguments.split("a, b(c, d) ,", ","), ["a", "b(c, d)", ""])
    assert.deepStrictEqual(Arguments.words(" a  b(c d)/e(f(g", " /"), ["a", "b(c d)", "e(f(g))"])
  })

  it("is an empty shape with calculated lengths, and with a bracket that only the end closes", () => {
    for (const value of ["inset(50%)", "inset(calc(25% + 25%))", "inset(calc((50%)))", "inset(50%"]) {
      const effects = new Effects()
      assert.isTrue(Shapes.clipPath(effects, value), value)
      assert.isTrue(effects.isClippedByPath, value)
    }
    assert.isFalse(Shapes.clipPath(new Effects(), "inset(50%) border-box"))
  })

  it("has transforms without a space between them", () => {
    const effects = new Effects()
    assert.isTrue(Shapes.transform(effects, "translate(calc(1px + 1px),3px)scale(.5)"))
    assert.deepStrictEqual([Length.resolve(effects.movedX ?? Length.ofPixels(0), 16, 0), effects.transform], [2, 0.5])
  })

  it("is a product before a sum, with brackets as one operand", () => {
    assert.strictEqual(Length.resolve(Length.parse("calc(2*(1px + 3px) - 4px/2)") ?? Length.ofPixels(0), 16, 0), 6)
    assert.isUndefined(Length.parse("calc(1px) + 2px)"))
  })
})
