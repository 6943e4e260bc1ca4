import { sealMessage } from "mailauth"
import type { Envelope } from "../../src/model/InboundEmail.ts"
import type { Dice } from "./Dice.ts"
import * as SenderZone from "./SenderZone.ts"
import * as SignatureField from "./SignatureField.ts"

/** A message with its origin. */
export interface SignedMail {
  readonly envelope: Envelope
  readonly message: Buffer
}

const plainFroms = (domain: string): readonly [string, ...Array<string>] => [
  `Ada <ada@${domain}>`,
  `ada@${domain}`,
  `<ada@${domain}>`,
  `"Love, Ada (x) <y>" <ada@${domain}>`,
  `"ada@bank.example" <ada@${domain}>`,
  `"" <ada@${domain}>`,
  `Ada L. O'Brien\t<ada@${domain}> `,
  `\r\n Ada\r\n <ada@${domain}>`,
  `=?utf-8?Q?A=64a?= {~|}\`<ada.b+c@${domain}>`
]

const oddFroms = (domain: string): readonly [string, ...Array<string>] => [
  `ada@${domain} (Ada)`,
  `Ada <ada@${domain}>, Eve <eve@${domain}>`,
  `Ada <ada@${domain}>, Eve <eve@other.example>`,
  `friends: ada@${domain};`,
  `A, B <ada@${domain}>`,
  `A "B" <ada@${domain}>`,
  `"A" B <ada@${domain}>`,
  `Ada < ada@${domain} >`,
  `Ada <ada@${domain}> B`,
  `Ada <<ada@${domain}>>`,
  `[Ada] <ada@${domain}>`,
  `Ada\\ <ada@${domain}>`,
  `ada@${domain} eve@other.example`,
  `eve@other.example <ada@${domain}>`,
  `"A \\"B\\"" <ada@${domain}>`,
  `<ada@${domain}> <eve@other.example>`,
  `"ada"@${domain}`,
  `ada@other.example@${domain}`,
  `ad\xc3\xa4 <ada@${domain}>`,
  `Ada\x0b<ada@${domain}>`,
  `ada.@${domain}`,
  "ada@[127.0.0.1]",
  "ada@127.0.0.1",
  "ada@localhost",
  "nobody",
  "<>",
  ""
]

/** The fields of a message, some malformed. */
const header = (dice: Dice): Array<string> => {
  const domain = dice.mostly("sender.example", 4, SignatureField.domains)
  const value = () =>
    dice.some(8, [
      "word",
      " ",
      "  ",
      "\t",
      "\r\n ",
      "\r\n\t",
      " \r\n  ",
      "\xc3\xbc",
      ":",
      ";",
      "=",
      ",",
      '"',
      "(",
      "b=x"
    ])
  const from = `From: ${dice.mostly(dice.pick(plainFroms(domain)), 4, oddFroms(domain))}`
  const fields = [
    ...(dice.oneIn(3) ? ["Received: from a.example by b.example; Sat, 21 Nov 2026 10:00:00 +0000"] : []),
    ...(dice.oneIn(4) ? [`Received: ${value()}`, `received:${value()}`] : []),
    from,
    "To: you@there.example",
    `Subject: Hello${value()}`,
    "Date: Sat, 21 Nov 2026 10:00:00 +0000",
    "Message-ID: <1@sender.example>",
    "MIME-Version: 1.0",
    dice.mostly("Content-Type: text/plain; charset=utf-8", 6, [
      'Content-Type: multipart/mixed; boundary="b"',
      `Content-Type: ${value()}`,
      "Content-Type: text/plain; name*0*=utf-8''%zz; name*1=x; =; charset*=x''%"
    ]),
    ...(dice.oneIn(3) ? [`X-Repeated: ${value()}`, `X-REPEATED :${value()}`, `X-Repeated\t: ${value()}`] : []),
    ...(dice.oneIn(20) ? ["X-Empty:", "X-Blank: "] : []),
    ...(dice.mostly(false, 40, [true]) ? [from] : []),
    ...(dice.mostly(false, 60, [true]) ? ["no field at all"] : []),
    ...(dice.mostly(false, 60, [true]) ? ["X Odd: name"] : []),
    ...(dice.mostly(false, 60, [true]) ? [": nameless"] : []),
    ...(dice.mostly(false, 60, [true]) ? ["X-Split\r\n : colon"] : []),
    ...(dice.mostly(false, 60, [true]) ? ["X-Return: a\rb"] : []),
    ...(dice.mostly(false, 60, [true]) ? ["X-\xfcber: x"] : []),
    ...(dice.mostly(false, 60, [true]) ? ["ARC-Seal: i=1; nonsense"] : [])
  ]
  return dice.oneIn(10) ? dice.shuffle(fields) : fields
}

const bodyOf = (dice: Dice): string => {
  const pieces = [
    "words",
    " ",
    "  ",
    "\t",
    " \t",
    "\r\n",
    "\r\n",
    "\r\n",
    "\r\n\r\n",
    " \r\n",
    "\t\r\n",
    ".\r\n",
    "=20\r\n",
    "\xc3\xbc",
    "\0",
    "--b\r\n"
  ] as const
  const odd = ["\n", "\r", "\n\n", "\r\r\n", " \n", "\n\r\n", "\r \r\n"] as const
  const text = dice.some(20, dice.oneIn(6) ? [...pieces, ...odd] : [...pieces])
  if (dice.oneIn(300)) {
    // Sometimes longer than the chunk that is examined at once.
    const line = `${dice.pick(["x", "words ", "\t", "x \r\n", "x\r\n", "  ", "\r\n", "x\n"])}`
    return text + line.repeat(Math.ceil((dice.pick([32, 64, 96]) * 1_024 + dice.below(8) - 4) / line.length)) + text
  }
  return `${text}${dice.mostly("\r\n", 4, ["", " ", "\t", "\r\n\r\n", " \r\n\t\r\n \r\n", "\r", "\n", "\n\n"])}`
}

/** A change in transit. */
const changed = (dice: Dice, message: string): string => {
  const end = message.indexOf("\r\n\r\n")
  const [head, body] = end === -1 ? [message, ""] : [message.slice(0, end), message.slice(end + 4)]
  const fields = head.split(/\r\n(?![ \t])/)
  const at = dice.below(fields.length)
  const field = fields[at] ?? ""
  const put = (...others: ReadonlyArray<string>) =>
    `${[...fields.slice(0, at), ...others, ...fields.slice(at + 1)].join("\r\n")}\r\n\r\n${body}`
  const position = dice.below(message.length)
  const character = dice.pick(["a", " ", "\t", "\r\n ", ";", "=", ":", "\r", "\n", "\0", "\xff", ""])
  const bodyPosition = dice.below(body.length + 1)
  return dice.pick([
    () => put(),
    () => put(field, field),
    () => put(field, "X-Added: on the way"),
    () => put("From: eve@other.example", field),
    () => put(field.replace(/^[^:]*/, (name) => dice.pick([name.toUpperCase(), name.toLowerCase(), `${name} `]))),
    () => put(field.replace(/ /g, () => dice.pick([" ", "  ", "\t", "\r\n ", " \r\n\t"]))),
    () => put(field.replace(/\r\n/g, "")),
    () => put(`${field}${dice.pick([" ", "\t", "\r\n ", "\r\n\t\t"])}`),
    () => `${dice.shuffle(fields).join("\r\n")}\r\n\r\n${body}`,
    () => `${head}\r\n\r\n${body}${dice.some(6, ["\r\n", " ", "\t", "\n", "\r"])}`,
    () => `${head}\r\n\r\n${body.trimEnd()}`,
    () => `${head}\r\n\r\n${body.replaceAll("\r\n", "\n")}`,
    () => `${head}\r\n\r\n${body.replace(/ /g, "  ")}`,
    () => `${head}\r\n\r\n${body.replace(/\r\n/g, () => dice.pick(["\r\n", " \r\n", "\t\r\n"]))}`,
    () => `${head}\r\n\r\n${body.slice(0, bodyPosition)}${character}${body.slice(bodyPosition + dice.below(2))}`,
    () => message.replaceAll("\r\n", "\n"),
    () => message.slice(0, position) + character + message.slice(position + dice.below(2)),
    () => message.slice(0, position),
    () => `${head}\n\r\n${body}`,
    () => `\r\n${message}`,
    () => ` ${message}`
  ])()
}

export const envelopes: readonly [Envelope, ...Array<Envelope>] = [
  { from: "ada@sender.example", helo: "sender.example", remoteAddress: "127.0.0.1" },
  { from: "ada@sender.example", helo: "sender.example", remoteAddress: "192.0.2.1" },
  { from: "ada@mail.sender.example", helo: "127.0.0.1", remoteAddress: "2001:db8::1" },
  { from: "ada@other.example", helo: "a.example", remoteAddress: "::1" },
  { from: "a b@broken.example", helo: "", remoteAddress: "127.0.0.1" },
  { from: "ada@slow.example", helo: "x.example", remoteAddress: "127.0.0.1" },
  { from: "", helo: "sender.example", remoteAddress: "127.0.0.1" }
]

/** Builds a message, signs it several times and changes it. Some are sealed by a forwarder. */
export const make = (dice: Dice): Promise<SignedMail> => {
  const fields = header(dice)
  const body = bodyOf(dice)
  const signatures = Array.from({ length: dice.pick([1, 1, 1, 0, 2, 2, 3, dice.mostly(1, 3, [4, 5, 6, 7])]) }, () =>
    SignatureField.make(dice, fields, body)
  )
  const lines = dice.oneIn(8) ? [...fields, ...signatures] : [...signatures, ...fields]
  const whole = `${lines.join("\r\n")}\r\n\r\n${body}`
  const finish = (message: string): SignedMail => {
    let last = message
    for (let times = dice.pick([0, 0, 0, 1, 1, 2, 3]); times > 0; times--) last = changed(dice, last)
    return { envelope: dice.pick(envelopes), message: Buffer.from(last, "latin1") }
  }
  if (!dice.oneIn(15)) return Promise.resolve(finish(whole))
  const kind = dice.pick<SenderZone.KeyKind>(["r1", "r2", "ed"])
  const seal = {
    signingDomain: "other.example",
    selector: `${kind}-${dice.mostly("good", 4, SenderZone.states)}`,
    privateKey: SenderZone.privateKey(kind).export({ format: "pem", type: "pkcs8" }).toString(),
    algorithm: kind === "ed" ? "ed25519-sha256" : "rsa-sha256",
    authResults: "other.example; dkim=pass header.d=sender.example; spf=pass",
    cv: dice.mostly("none", 6, ["pass", "fail"])
  }
  return sealMessage(Buffer.from(whole, "latin1"), seal as never).then((fields) =>
    finish(`${fields.toString("latin1")}${whole}`)
  )
}
