import type { Dice } from "./Dice.ts"
import * as DkimSigner from "./DkimSigner.ts"
import * as SenderZone from "./SenderZone.ts"

/** Valid and invalid sender names. */
export const domains: readonly [string, ...Array<string>] = [
  "mail.sender.example",
  "other.example",
  "SENDER.example",
  "strict.example",
  "xn--bcher-kva.example",
  "sender.example.",
  "sender",
  "-bad.example",
  "b\xc3\xbccher.example",
  "sen der.example",
  ""
]

/** The signing time in seconds since 1970, in the past. */
const signedAt = 1_760_000_000

const plainIdentities = (domain: string): ReadonlyArray<string> => [
  `@${domain}`,
  `ada@${domain}`,
  `ada.b+c@${domain}`,
  `@sub.${domain}`,
  `@SUB.${domain.toUpperCase()}`
]

const identities = (domain: string): readonly [string, ...Array<string>] => [
  "@other.example",
  `@x${domain}`,
  `ad=20a@${domain}`,
  `"a b"@${domain}`,
  `a..b@${domain}`,
  `${"a".repeat(600)}@${domain}`,
  domain,
  ""
]

/** The value of a tag, or undefined. */
type Value = string | undefined

const blanks = (dice: Dice) => dice.mostly("", 15, [" ", "\t", "  ", "\r\n ", "\r\n\t", " \r\n  "])

/** Folded as by most signers. */
const base64 = (dice: Dice, text: string) =>
  dice.oneIn(3)
    ? text.replace(/.{60}/g, (part) => `${part}${dice.pick([" ", "\r\n ", "\r\n\t", "\r\n        "])}`)
    : text

/** Forms of `c=`. The last ones are wrong. */
const formTag = (dice: Dice, header: string, body: string) => {
  const whole = `${header}/${body}`
  const short = header === "simple" ? [undefined, "simple"] : ["relaxed"]
  return dice.mostly<Value>(body === "simple" ? dice.mostly<Value>(whole, 3, [whole, ...short]) : whole, 40, [
    whole.toUpperCase(),
    `${whole}/simple`,
    `other/${body}`,
    `${header}/other`,
    "",
    `${header} / ${body}`,
    `${header}/`
  ])
}

const signedNames = (dice: Dice, fields: ReadonlyArray<string>): ReadonlyArray<string> => {
  const there = fields.map((line) => line.slice(0, Math.max(0, line.indexOf(":"))).trim())
  return dice.mostly<ReadonlyArray<string>>(
    ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"],
    1,
    [
      ["from"],
      [...there, ...there, "From", "from"],
      ["From", "From", "Subject", "subject", "X-Not-There", "To", "to"],
      dice.shuffle([...there, "FROM"]),
      ["from", "received", "Received", "x-repeated", "X-Repeated", "dkim-signature"],
      ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"],
      ["From", "", "To"],
      ["Subject", "To"],
      []
    ]
  )
}

/** A DKIM-Signature field for these fields and this body, in one of many valid and invalid forms. */
export const make = (dice: Dice, fields: ReadonlyArray<string>, body: string): string => {
  const kind = dice.mostly<SenderZone.KeyKind>(dice.pick(["r1", "r1", "r2", "ed"]), 10, ["r5"])
  const domain = dice.mostly("sender.example", 5, domains)
  const header = dice.pick(["simple", "relaxed"])
  const bodyForm = dice.pick(["simple", "relaxed"])
  const names = signedNames(dice, fields)
  const hash = DkimSigner.bodyHash(body, bodyForm)
  const algorithm = kind === "ed" ? "ed25519-sha256" : "rsa-sha256"
  const other = dice.mostly("n", 6, [
    "darn",
    "r",
    "B",
    "H",
    "constructor",
    "__proto__",
    "header",
    "value",
    "b2",
    "2b",
    "b-b"
  ])
  const tags: ReadonlyArray<readonly [name: string, value: Value]> = [
    ["v", dice.mostly<Value>("1", 40, ["2", "1.0", " 1 ", "", undefined])],
    [
      "a",
      dice.mostly<Value>(algorithm, 30, [
        algorithm.toUpperCase(),
        "rsa-sha1",
        "rsa-sha512",
        "rsa",
        "ed25519-sha256",
        "rsa-sha256",
        undefined
      ])
    ],
    ["c", formTag(dice, header, bodyForm)],
    ["d", dice.mostly<Value>(domain, 60, [undefined])],
    [
      "s",
      dice.mostly<Value>(`${kind}-${dice.oneIn(4) ? dice.pick(SenderZone.states) : "good"}`, 60, [
        undefined,
        "a.b",
        "a b",
        "",
        "-x"
      ])
    ],
    [
      "i",
      dice.mostly<Value>(dice.pick<Value>([undefined, undefined, ...plainIdentities(domain)]), 10, identities(domain))
    ],
    [
      "q",
      dice.mostly<Value>(dice.pick<Value>([undefined, "dns/txt"]), 20, [
        "dns/txt:other",
        "DNS/TXT",
        "other",
        "dns / txt",
        ""
      ])
    ],
    [
      "t",
      dice.mostly<Value>(dice.pick<Value>([undefined, "0", "99999999999", `${signedAt - dice.below(1_000)}`]), 20, [
        "9999999999999",
        "-1",
        "soon",
        "1e9",
        "0x10",
        ""
      ])
    ],
    [
      "x",
      dice.mostly<Value>(dice.pick<Value>([undefined, undefined, undefined, "999999999999", `${signedAt + 1}`]), 15, [
        `${signedAt - 500}`,
        `${signedAt - 5_000}`,
        "1",
        "0",
        "never",
        "9999999999999",
        ""
      ])
    ],
    ["l", dice.oneIn(15) ? dice.pick(["0", "5", "100000", "x", ""]) : undefined],
    ["z", dice.mostly<Value>(undefined, 15, ["From:a=40b|To:c", "Subject:b=20|b=x", "h:\r\n b=1", "\xc3\xbc"])],
    [
      "h",
      dice.mostly<Value>(names.join(dice.mostly(":", 4, [" : ", ":\r\n\t", " :"])), 80, [undefined, "From To", "Fr om"])
    ],
    ["bh", dice.mostly<Value>(base64(dice, hash), 40, [undefined, "", hash.replace("=", ""), hash.toLowerCase()])],
    [other, dice.mostly<Value>(undefined, 3, ["x", "a=b", "", "h:b=1:x", "(b=2)", "\x01", "\xc3\xbc"])]
  ]
  const said = tags.flatMap(
    ([name, value]): ReadonlyArray<readonly [string, string]> => (value === undefined ? [] : [[name, value]])
  )
  const own: readonly [string, string] = ["b", ""]
  const ordered = dice.oneIn(8) ? dice.shuffle([...said, own]) : [...(dice.oneIn(3) ? dice.shuffle(said) : said), own]
  if (dice.oneIn(80)) ordered.push(dice.pick([own, ...said]))
  const specs = ordered.map(([name, value]) => {
    const written = dice.mostly(name, 200, [name.toUpperCase()])
    const start = dice.mostly(" ", 5, ["", "\t", "\r\n\t", "\r\n  ", "  "])
    return `${start}${written}${blanks(dice)}=${blanks(dice)}${value}${blanks(dice)}`
  })
  const at = specs.findLastIndex((spec) => /^\s*b\s*=/.test(spec))
  const at2 = at === -1 ? specs.length - 1 : at
  const name = dice.mostly("DKIM-Signature", 20, [
    "dkim-signature",
    "DKIM-SIGNATURE",
    "Dkim-Signature ",
    "DKIM-Signature\t"
  ])
  const spec = specs[at2] ?? ""
  const before = `${name}:${[...specs.slice(0, at2), spec.slice(0, spec.indexOf("=") + 1)].join(";")}`
  const behind = [
    ...specs.slice(at2 + 1).map((one) => `;${one}`),
    dice.mostly("", 4, [";", "; ", ";\r\n ", ";\r\n ", ";;", "; x"])
  ].join("")
  const signed = DkimSigner.signature({ kind, form: header, fields, names, before, behind })
  const value = dice.mostly(signed, 60, [
    signed.replaceAll("+", "-").replaceAll("/", "_"),
    signed.replace(/=+$/, ""),
    `${signed}=`,
    signed.slice(4),
    "not base64!",
    ""
  ])
  return `${before}${blanks(dice)}${base64(dice, value)}${blanks(dice)}${behind}`
}
