import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Glob from "../../../src/webhooks/routes/Glob.ts"
import * as Routes from "../../../src/webhooks/routes/Routes.ts"

const routesOf = (...patterns: ReadonlyArray<string>) => patterns.map((pattern) => ({ pattern }))
const matched = (patterns: ReadonlyArray<string>, localPart: string) =>
  Routes.match(routesOf(...patterns), localPart)?.pattern

// The oracle: a pattern as a regular expression, and a sort of all that match.
const regexOf = (pattern: string) => {
  const source = [...pattern].map((one) => (one === "*" ? ".*" : one.replace(/[\\^$.|?+()[\]{}/-]/g, "\\$&"))).join("")
  return new RegExp(pattern.includes("*") ? `^${source}$` : `^${source}(\\+.*)?$`, "s")
}
const oracle = (patterns: ReadonlyArray<string>, localPart: string) => {
  const text = localPart.toLowerCase()
  const fits = patterns.filter((pattern) => regexOf(pattern).test(text))
  const isName = (pattern: string) => !pattern.includes("*")
  const order = (pattern: string) => [
    isName(pattern) && pattern === text ? 1 : 0,
    [...pattern].filter((one) => one !== "*").length,
    isName(pattern) ? 1 : 0
  ]
  return fits.sort((a, b) => {
    const [x, y] = [order(a), order(b)]
    return (y[0] ?? 0) - (x[0] ?? 0) || (y[1] ?? 0) - (x[1] ?? 0) || (y[2] ?? 0) - (x[2] ?? 0)
  })[0]
}

const joined = (
  characters: ReadonlyArray<string>,
  length: { readonly minLength: number; readonly maxLength: number }
) => Arbitrary.array(Arbitrary.schema(Schema.Literals(characters)), length).pipe(Arbitrary.map((all) => all.join("")))
const withoutDoubleStars = Arbitrary.map((text: string) => text.replace(/\*+/g, "*"))

const pattern = joined(["a", "a", "b", "b", "+", "-", "1", "*", "*"], { minLength: 1, maxLength: 8 }).pipe(
  withoutDoubleStars
)
const localPart = joined(["a", "b", "+", "-", "1", "A", "B"], { minLength: 1, maxLength: 10 })

/** The catch-all, and up to 11 patterns none of which could tie with another, as creation accepts them. */
const patterns = Arbitrary.array(pattern, { maxLength: 11 }).pipe(
  Arbitrary.map((drawn) => {
    const accepted = ["*"]
    for (const one of drawn) if (!accepted.some((other) => Routes.couldTie(one, other))) accepted.push(one)
    return accepted
  })
)

describe("The route of a recipient", () => {
  it("is the exact name, then the pattern with the most literal characters, then the catch-all", () => {
    const patterns = ["*", "agent-*", "agent-7*", "agent-7", "*-bot", "support"]
    for (const [localPart, expected] of [
      ["agent-7", "agent-7"],
      ["Agent-7", "agent-7"],
      ["agent-71", "agent-7*"],
      ["agent-8", "agent-*"],
      ["mail-bot", "*-bot"],
      ["agent-bot", "agent-*"],
      ["support", "support"],
      ["SUPPORT+Tag", "support"],
      ["supporter", "*"],
      ['"support"', "support"],
      ["+", "*"]
    ] as const) {
      assert.strictEqual(matched(patterns, localPart), expected, localPart)
    }
  })

  it("is the pattern with a tag before the name, for an address with a tag", () => {
    assert.strictEqual(matched(["*", "support", "support+*"], "support+vip"), "support+*")
    assert.strictEqual(matched(["*", "support", "support+*"], "support"), "support")
    assert.strictEqual(matched(["*", "agent", "agent*"], "agent+1"), "agent")
    assert.strictEqual(matched(["*", "agent", "agent*"], "agent1"), "agent*")
  })

  it.prop(
    "is the one that an oracle with regular expressions finds, for 40 recipients and up to 12 patterns",
    { patterns, localParts: Arbitrary.array(localPart, { minLength: 40, maxLength: 40 }) },
    ({ localParts, patterns }) => {
      for (const text of localParts) {
        assert.strictEqual(matched(patterns, text), oracle(patterns, text), `${text} of ${patterns}`)
      }
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "does not depend on the order of the patterns",
    { patterns, localPart },
    ({ localPart, patterns }) => {
      const text = localPart
      assert.strictEqual(matched(patterns, text), matched(patterns.toReversed(), text))
    },
    { arbitrary: { runs: 1_000 } }
  )

  it.prop(
    "is the first that takes it in the order of lists, unless an exact name comes later",
    { patterns, localPart },
    ({ localPart, patterns }) => {
      const text = localPart.toLowerCase()
      const inOrder = Routes.inOrder(routesOf(...patterns)).map(({ pattern }) => pattern)
      assert.strictEqual(inOrder.at(-1), "*")
      const first = inOrder.includes(text) ? text : inOrder.find((pattern) => Routes.takes(pattern, text))
      assert.strictEqual(matched(patterns, text), first)
    },
    { arbitrary: { runs: 1_000 } }
  )
})

describe("Two patterns", () => {
  it("could tie if some address matches both with as many literal characters", () => {
    for (const [one, other, expected] of [
      ["agent-*", "*-agent", true],
      ["a*", "*b", true],
      ["a*", "b*", false],
      ["ab*", "*b", false],
      ["support", "support", true],
      ["support", "suppor*", false],
      ["agent", "agent*", false],
      ["*", "*", true],
      ["a*c", "a*b", false],
      ["a*b*", "*a*b", true]
    ] as const) {
      assert.strictEqual(Routes.couldTie(one, other), expected, `${one} ${other}`)
      assert.strictEqual(Routes.couldTie(other, one), expected, `${other} ${one}`)
    }
  })

  it.prop(
    "overlap whenever a text matches both",
    { one: pattern, other: pattern, localPart },
    ({ localPart, one, other }) => {
      const text = localPart.toLowerCase()
      if (Glob.matches(one, text) && Glob.matches(other, text)) assert.isTrue(Glob.overlap(one, other))
    },
    { arbitrary: { runs: 5_000 } }
  )

  // Two patterns of at most four characters that overlap have a common text of at most eight.
  const texts = [""]
  for (let at = 0; (texts[at]?.length ?? 8) < 8; at++) texts.push(`${texts[at]}a`, `${texts[at]}b`)
  const short = joined(["a", "b", "*"], { minLength: 1, maxLength: 4 }).pipe(withoutDoubleStars)

  it.prop(
    "overlap only if some text matches both",
    { one: short, other: short },
    ({ one, other }) => {
      const isThere = texts.some((text) => Glob.matches(one, text) && Glob.matches(other, text))
      assert.strictEqual(Glob.overlap(one, other), isThere, `${one} ${other}`)
    },
    { arbitrary: { runs: 2_000 } }
  )
})

describe("A glob", () => {
  it("matches in time proportional to pattern and text", () => {
    // A backtracking matcher takes 2^32 steps.
    assert.isFalse(Glob.matches(`${"*a".repeat(31)}*b`, "a".repeat(64)))
  })
})
