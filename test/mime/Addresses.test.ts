import { assert, describe, it } from "@effect/vitest"
import addressparser from "nodemailer/lib/addressparser"
import * as Mime from "../../src/mime/Mime.ts"
import * as Dice from "../reading/Dice.ts"

const words = ["Ada", "b", "Inc", "0", "via", "a.b", "no-reply", "O'Hara", "(x)"] as const
const between = [" ", " ", ", ", ",", "-", "'", " & ", ". ", ".", "  "] as const
const addresses = ["a@b.example", "x.y+z@b", "_@1.2.3.4", "-@-.-", "a..b@c", ".a@b", "a@b@c"] as const

const read = (...fields: ReadonlyArray<string>) => Mime.read(Buffer.from(`${fields.join("\r\n")}\r\n\r\nHi\r\n`))

describe("An address field", () => {
  it("is parsed up to 1,000 mailboxes, and 128 Ki characters of all fields of its name", () => {
    const long = `${"x".repeat(1_000)}@a.example, `
    const few = read(`To: ${long.repeat(120)}last@a.example`)
    assert.deepStrictEqual([few.to.length, few.to.at(-1)?.address, few.parse], [121, "last@a.example", "full"])
    const many = read(`To: ${long.repeat(70)}b@a.example`, `To: ${long.repeat(70)}last@a.example`)
    assert.deepStrictEqual([many.to.length, many.parse], [130, "partial"])
    assert.isTrue(many.to.every(({ address }) => /^(?:x{1000}|b)@a\.example$/.test(address)))
    const exact = read(`Cc: ${Array.from({ length: 1_000 }, (_, number) => `${number}@a.example`).join(", ")}`)
    assert.deepStrictEqual([exact.cc.length, exact.parse], [1_000, "full"])
    assert.strictEqual(read(`Cc: ${"a@a.example, ".repeat(1_000)}b@a.example`).parse, "partial")
  })

  it("has no author if a longer From could have another one behind what is parsed", () => {
    assert.strictEqual(read(`From: ${"ada@a.example, ".repeat(100)}bob@A.example`).from, "ada@a.example")
    assert.strictEqual(
      read(`From: ${"ada@bücher.example, ".repeat(100)}bob@xn--bcher-kva.example`).from,
      "ada@bücher.example"
    )
    assert.isNull(read(`From: ${"ada@a.example, ".repeat(100)}bob@b.example`).from)
    assert.isNull(read(`From: ${"ada@a.example, ".repeat(10_000)}bob@a.example`).from)
  })

  it("has the mailboxes of nodemailer's parser, also if it is simple and read without it", () => {
    const dice = Dice.make(11)
    for (let run = 0; run < 20_000; run++) {
      const name = dice.pick(words) + dice.some(4, [...between, ...words])
      const field = `${dice.pick([name, `"${name}"`])}${dice.pick([" ", ""])}<${dice.pick(addresses)}>`
      const { to } = Mime.read(Buffer.from(`To: ${field}\r\n\r\n`))
      const [found] = addressparser(field, { flatten: true })
      if (found !== undefined && found.address !== "") {
        assert.deepStrictEqual(to, [{ name: found.name, address: found.address }], field)
      }
    }
  })
})
