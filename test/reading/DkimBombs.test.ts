import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as DkimCanonical from "../../src/sender/DkimCanonical.ts"
import * as Oracle from "./Oracle.ts"
import * as SenderZone from "./SenderZone.ts"
import { envelopes } from "./SignedMail.ts"

const mebibyte = 1_048_576
/** The maximum header size that is checked. */
const header = 256 * 1_024 - 4_096

const filled = (bytes: number, piece: string, end = "") => piece.repeat(Math.floor(bytes / piece.length)) + end

/** Signed correctly except for the signature value, so that every step of the check runs. */
const signature = (body: string, form: DkimCanonical.Canonicalization, names = "From:To:Subject", more = "") =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=${form}/${form}; d=sender.example; s=r1-good; h=${names};${more} bh=${DkimCanonical.bodyHash(Buffer.from(body, "latin1"), form)}; b=AAAA`

interface Bomb {
  readonly name: string
  readonly fields: (form: DkimCanonical.Canonicalization) => ReadonlyArray<string>
  readonly body: string
}

const from = "From: Ada <ada@sender.example>"

const ofBody = (name: string, body: string): Bomb => ({
  name: `a body of ${name}`,
  fields: (form) => [signature(body, form), from],
  body
})

const ofField = (name: string, field: string): Bomb => ({
  name: `a field of ${name}`,
  fields: (form) => [signature("words\r\n", form, "From:X"), from, field],
  body: "words\r\n"
})

const bombs: ReadonlyArray<Bomb> = [
  ...([" ", "\t", "\r\n", "\n", "\r", "x", " \r\n", "\tx", "  x", "\r\r\n", " \r", "x\n", " \n\t"] as const).flatMap(
    (piece) => [
      ofBody(`${JSON.stringify(piece)} alone`, filled(mebibyte, piece)),
      ofBody(`${JSON.stringify(piece)} and a word`, filled(mebibyte, piece, "word\r\n"))
    ]
  ),
  ofBody("runs of blanks as long as what is looked at together", filled(mebibyte, `${" ".repeat(40_000)}x\r\n`)),
  ...[" ", "\t", "x", " x", "\t x", ":", ";", "=", "b=", "<", '"', "(", "a."].map((piece) =>
    ofField(JSON.stringify(piece), `X: ${filled(header, piece)}`)
  ),
  ofField("1,900 folded lines", `X: ${filled(1_900 * 130, `${" ".repeat(63)}\r\n${"\t".repeat(65)}`, "x")}`),
  {
    name: "1,900 fields that are all signed",
    fields: (form) => [
      signature("", form, `From:${filled(1_900 * 2, "X:", "To")}`),
      from,
      ...Array.from({ length: 1_900 }, () => `X: ${"a\t".repeat(60)}`)
    ],
    body: ""
  },
  {
    name: "five signatures over thousands of fields, present or not",
    fields: (form) => [
      ...Array.from({ length: 5 }, () =>
        signature("", form, `From:${filled(20_000, "X:")}${filled(20_000, "From : ")}${filled(6_000, "Gone:", "To")}`)
      ),
      from,
      ...Array.from({ length: 1_000 }, () => "X: a")
    ],
    body: ""
  },
  {
    name: "a signature of thousands of tags",
    fields: (form) => [
      signature("", form, "From", Array.from({ length: 25_000 }, (_, n) => `t${n}= ;`).join("")),
      from
    ],
    body: ""
  },
  {
    name: "five signatures with tags of whitespace",
    fields: (form) => [
      ...Array.from({ length: 5 }, () =>
        signature("", form, "From", `${filled(15_000, " \t")}z=${filled(30_000, " \t", "a")};`)
      ),
      from
    ],
    body: ""
  },
  ...[
    `From: ${filled(header, " ")}Ada <ada@sender.example>`,
    `From: ${filled(header, "Ada ")}<ada@sender.example>`,
    `From: "${filled(header, "Ada <")}" <ada@sender.example>`,
    `From: ${filled(header, "a.")}ada@sender.example`,
    `From: ada@${filled(header, "a.")}sender.example`
  ].map((field) => ({
    name: `a From field of ${field.slice(0, 16)}…`,
    fields: (form: DkimCanonical.Canonicalization) => [signature("", form), field],
    body: ""
  }))
]

const cases = bombs.flatMap((bomb) => (["simple", "relaxed"] as const).map((form) => [bomb.name, form, bomb] as const))

describe("A costly signature of 1 MiB", () => {
  it.live.each(cases)("is checked within its time limit: %s, %s", ([, form, { body, fields }]) =>
    Effect.gen(function* () {
      const [envelope] = envelopes
      const message = Buffer.from(`${fields(form).join("\r\n")}\r\n\r\n${body}`, "latin1")
      // CPU time, which does not depend on the load of the machine.
      const before = process.cpuUsage()
      const { checked, isOrdinary } = yield* Oracle.ours({ envelope, message }, SenderZone.ask)
      const { system, user } = process.cpuUsage(before)
      assert.isTrue(isOrdinary)
      // Verification ran to its end.
      assert.include(checked.field, "dkim=fail (bad signature)")
      assert.isBelow((system + user) / 1_000_000, 1)
    })
  )
})
