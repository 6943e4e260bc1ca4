import { assert, describe, it } from "@effect/vitest"
import addressparser from "nodemailer/lib/addressparser"
import * as Mime from "../../src/mime/Mime.ts"
import * as Dice from "../reading/Dice.ts"

const words = ["Ada", "b", "Inc", "0", "via", "a.b", "no-reply", "O'Hara", "(x)"] as const
const between = [" ", " ", ", ", ",", "-", "'", " & ", ". ", ".", "  "] as const
const addresses = ["a@b.example", "x.y+z@b", "_@1.2.3.4", "-@-.-", "a..b@c", ".a@b", "a@b@c"] as const

describe("An address field", () => {
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
