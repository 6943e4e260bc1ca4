import { generateKeyPairSync } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { dkimSign, sealMessage } from "mailauth"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const keys = {
  bank: generateKeyPairSync("rsa", { modulusLength: 2_048 }),
  evil: generateKeyPairSync("rsa", { modulusLength: 2_048 })
}
type Signer = keyof typeof keys

const elsewhere = "v=spf1 ip4:192.0.2.1 -all"
const here = "v=spf1 ip4:127.0.0.1 -all"

/** Domains, each with its SPF record, the owner of its key, and its DMARC record. */
const zone: ReadonlyArray<readonly [name: string, spf: string, owner: Signer, dmarc?: string]> = [
  ["bank.example", elsewhere, "bank", "v=DMARC1; p=reject"],
  ["mail.bank.example", elsewhere, "bank"],
  ["strict.example", elsewhere, "bank", "v=DMARC1; p=reject; adkim=s; aspf=s"],
  ["mail.strict.example", here, "bank"],
  ["quiet.example", elsewhere, "bank"],
  ["direct.example", here, "bank", "v=DMARC1; p=none"],
  ["bounce.direct.example", here, "bank"],
  ["plain.example", here, "bank"],
  ["evil.example", here, "evil", "v=DMARC1; p=reject"],
  ["bank.example.evil.example", here, "evil"],
  ["bank-example.example", here, "evil"],
  ["xn--a.evil.example", here, "evil"],
  ["xn--bnk-6la.example", here, "evil", "v=DMARC1; p=reject"],
  ["list.example", here, "evil", "v=DMARC1; p=none"]
]

const publish = Effect.gen(function* () {
  const dns = yield* DnsServer
  for (const [name, spf, owner, dmarc] of zone) {
    const key = keys[owner].publicKey.export({ format: "der", type: "spki" }).toString("base64")
    yield* dns.answer("TXT", name, { text: [[spf]] })
    yield* dns.answer("TXT", `s1._domainkey.${name}`, { text: [`v=DKIM1; k=rsa; p=${key}`.match(/.{1,200}/g) ?? []] })
    if (dmarc !== undefined) yield* dns.answer("TXT", `_dmarc.${name}`, { text: [[dmarc]] })
  }
})

const pem = (owner: Signer) => keys[owner].privateKey.export({ format: "pem", type: "pkcs8" }).toString()

const usual = ["From", "To", "Cc", "Subject", "Date", "Message-ID"]

/** Signs a message in the name of a domain, with the key of this owner. */
const signed = (message: string, domain: string, owner: Signer, options: object = {}) =>
  Effect.promise(() => {
    const signer = { signingDomain: domain, selector: "s1", privateKey: pem(owner), headerList: usual, ...options }
    return dkimSign(message, { ...signer, signatureData: [signer] } as never)
  }).pipe(Effect.map(({ signatures }) => `${signatures}${message}`))

/** Seals a message as a server that passed it on (RFC 8617). */
const sealed = (message: string, domain: string, owner: Signer) =>
  Effect.promise(() =>
    sealMessage(Buffer.from(message), {
      signingDomain: domain,
      selector: "s1",
      privateKey: pem(owner),
      authResults: `${domain}; dkim=pass header.d=bank.example; spf=pass; dmarc=pass header.from=bank.example`,
      cv: "none"
    } as never)
  ).pipe(Effect.map((fields) => `${fields}${message}`))

let messages = 0
const mail = (from: string | ReadonlyArray<string>, to: string, more = "", body = "Pay the invoice today.\r\n") =>
  `${[from]
    .flat()
    .map((one) => `From: ${one}\r\n`)
    .join("")}To: ${to}\r\nSubject: Invoice\r\nDate: Thu, 26 Nov 2026 10:00:00 +0000\r\n` +
  `Message-ID: <${++messages}@sender.example>\r\n${more}\r\n${body}`

interface Sent {
  readonly message: string
  /** The address of MAIL. */
  readonly sender: string
}
type Making = (to: string) => Effect.Effect<Sent>

const unsigned =
  (from: string | ReadonlyArray<string>, sender: string, more = ""): Making =>
  (to) =>
    Effect.succeed({ message: mail(from, to, more), sender })

/** An honest mail to somebody else, with its signature, sent to us by a stranger. */
const replayed =
  (change: (message: string, to: string) => string, options: object = {}): Making =>
  (to) =>
    Effect.map(
      signed(mail("Ada <ada@bank.example>", "somebody@other.example"), "bank.example", "bank", options),
      (message) => ({ message: change(message, to), sender: "eve@evil.example" })
    )

const ada = "Ada <ada@bank.example>"
const eve = "eve@evil.example"

const forged: ReadonlyArray<readonly [string, Making]> = [
  ["an invented From address", unsigned(ada, eve)],
  ["the envelope of the forged author", unsigned(ada, "ada@bank.example")],
  ["no envelope sender", unsigned(ada, "")],
  ["the address as a display name", unsigned(`"ada@bank.example" <${eve}>`, eve)],
  ["the address as a comment", unsigned(`${eve} (ada@bank.example)`, eve)],
  ["the address in brackets inside a display name", unsigned(`"Ada <ada@bank.example>" <${eve}>`, eve)],
  [
    "an encoded display name",
    unsigned(`=?utf-8?B?${Buffer.from("ada@bank.example").toString("base64")}?= <${eve}>`, eve)
  ],
  ["two addresses, the stranger's first", unsigned(`${eve}, ada@bank.example`, eve)],
  ["two addresses, the stranger's last", unsigned(`ada@bank.example, ${eve}`, eve)],
  ["a group with both", unsigned(`friends: ada@bank.example, ${eve};`, eve)],
  ["two From fields, the stranger's first", unsigned([`<${eve}>`, ada], eve)],
  ["two From fields, the stranger's last", unsigned([ada, `<${eve}>`], eve)],
  ["the author as Sender", unsigned(`<${eve}>`, eve, "Sender: ada@bank.example\r\n")],
  ["the author as Reply-To", unsigned(`<${eve}>`, eve, "Reply-To: ada@bank.example\r\n")],
  ["the author as Resent-From", unsigned(`<${eve}>`, eve, "Resent-From: ada@bank.example\r\n")],
  ["a cousin with a hyphen", unsigned("ada@bank-example.example", "ada@bank-example.example")],
  ["a cousin with a look-alike letter", unsigned("ada@bànk.example", "ada@xn--bnk-6la.example")],
  ["the domain in front of another", unsigned("ada@bank.example.evil.example", "ada@bank.example.evil.example")],
  ["the domain as a local part", unsigned("ada@bank.example@evil.example", eve)],
  ["a subdomain of the stranger as the author", unsigned("ada@bank.example", "ada@bank.example.evil.example")],
  ["an envelope at a sibling under strict alignment", unsigned("ada@strict.example", "ada@mail.strict.example")],
  [
    "a signature of the stranger",
    (to) => Effect.map(signed(mail(ada, to), "evil.example", "evil"), (message) => ({ message, sender: eve }))
  ],
  [
    "a signature in the domain's name with another key",
    (to) => Effect.map(signed(mail(ada, to), "bank.example", "evil"), (message) => ({ message, sender: eve }))
  ],
  [
    "a body changed after the signature",
    (to) =>
      Effect.map(signed(mail(ada, to), "bank.example", "bank"), (message) => ({
        message: message.replace("today", "to Eve"),
        sender: eve
      }))
  ],
  [
    "words behind a signature of a part of the body",
    (to) =>
      Effect.map(signed(mail(ada, to), "bank.example", "bank", { maxBodyLength: 4 }), (message) => ({
        message: message.replace("invoice", "ransom"),
        sender: eve
      }))
  ],
  ...["Subject: Pay Eve", "Reply-To: eve@evil.example\r\nReply-To: eve@evil.example"].map(
    (added) =>
      [
        `a signed mail with another field in front: ${JSON.stringify(added)}`,
        (to: string) =>
          Effect.map(signed(mail(ada, to), "bank.example", "bank"), (message) => ({
            message: `${added}\r\n${message}`,
            sender: eve
          }))
      ] as const
  ),
  ["a signed mail to another address", replayed((message) => message)],
  ["a signed mail to another address with a second To", replayed((message, to) => `To: ${to}\r\n${message}`)],
  [
    "a signed mail to another address with a second To far in front",
    replayed((message, to) => `To: ${to}\r\n${`X-Filler: ${"x".repeat(900)}\r\n`.repeat(90)}${message}`)
  ],
  ...[
    (to: string) => `To : ${to}\r\n`,
    (to: string) => `tO:${to}\r\n`,
    (to: string) => `To:\r\n ${to}\r\n`,
    (to: string) => `X-Odd: a\rTo: ${to}\r\n`,
    (to: string) => `X-Odd: a\nTo: ${to}\n`,
    (to: string) => ` To: ${to}\r\n`,
    (to: string) => `no field\r\nTo: ${to}\r\n`
  ].map(
    (field) =>
      [
        `a signed mail to another address behind ${JSON.stringify(field("me"))}`,
        replayed((message, to) => `${field(to)}${message}`)
      ] as const
  ),
  [
    "a signed mail to another address with a Cc",
    replayed((message, to) => `Cc: ${to}\r\n${message}`, { headerList: ["From", "To", "Subject"] })
  ],
  [
    "a signed mail whose To is not signed",
    replayed((message, to) => message.replace("To: somebody@other.example", `To: ${to}`), {
      headerList: ["From", "Subject"]
    })
  ],
  [
    "the seal of a stranger",
    (to) => Effect.map(sealed(mail(ada, to), "evil.example", "evil"), (message) => ({ message, sender: eve }))
  ]
]

/** Honest mail, with what the event says first. */
const honest: ReadonlyArray<readonly [name: string, making: Making, passes: boolean, reason: string]> = [
  ["by the domain's own server", unsigned("bob@direct.example", "bob@direct.example"), true, "dmarc_pass"],
  [
    "with a bounce address at a subdomain",
    unsigned("bob@direct.example", "b-1@bounce.direct.example"),
    true,
    "dmarc_pass"
  ],
  ["from a domain without a policy, by SPF", unsigned("bob@plain.example", "bob@plain.example"), true, "spf_aligned"],
  [
    "from a domain without a policy, by DKIM",
    (to) =>
      Effect.map(signed(mail("bob@quiet.example", to), "quiet.example", "bank"), (message) => ({
        message,
        sender: eve
      })),
    true,
    "dkim_aligned"
  ],
  [
    "by a service that signs for the domain",
    (to) => Effect.map(signed(mail(ada, to), "bank.example", "bank"), (message) => ({ message, sender: eve })),
    true,
    "dmarc_pass"
  ],
  [
    "signed by a subdomain",
    (to) => Effect.map(signed(mail(ada, to), "mail.bank.example", "bank"), (message) => ({ message, sender: eve })),
    true,
    "dmarc_pass"
  ],
  [
    "from a subdomain, signed by its parent",
    (to) =>
      Effect.map(signed(mail("ada@mail.bank.example", to), "bank.example", "bank"), (message) => ({
        message,
        sender: eve
      })),
    true,
    "dmarc_pass"
  ],
  [
    "with the recipient in Cc",
    (to) =>
      Effect.map(signed(mail(ada, "team@bank.example", `Cc: ${to}\r\n`), "bank.example", "bank"), (message) => ({
        message,
        sender: eve
      })),
    true,
    "dmarc_pass"
  ],
  [
    "by a forwarder",
    () =>
      Effect.map(signed(mail(ada, "old@home.example"), "bank.example", "bank"), (message) => ({
        message,
        sender: "old@list.example"
      })),
    false,
    "addressed_to_others"
  ],
  [
    "by a mailing list that changes and seals it",
    () =>
      Effect.flatMap(
        sealed(
          mail(ada, "list@list.example", "List-Id: <list.list.example>\r\n", "Words.\r\n-- \r\nfooter\r\n"),
          "list.example",
          "evil"
        ),
        (message) => Effect.succeed({ message, sender: "bounces@list.example" })
      ),
    false,
    "dmarc_fail"
  ]
]

const world = Layer.unwrap(
  Effect.gen(function* () {
    const context = yield* Layer.build(DnsServer.layer)
    const { server } = Context.get(context, DnsServer)
    yield* Effect.provideContext(publish, context)
    return Layer.merge(TestInlet.layer({ DNS_SERVERS: server }), Layer.succeedContext(context))
  })
)

/** An inbox that allows these authors. */
const allowing = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  for (const value of values) {
    const { status, text } = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/sender-rules`, {
      key: inbox.key,
      body: { list: "allow", value }
    })
    assert.strictEqual(status, 201, text)
  }
  return inbox
})

const arrive = Effect.fnUntraced(function* (inbox: Effect.Success<ReturnType<typeof allowing>>, making: Making) {
  const inlet = yield* TestInlet
  const { message, sender } = yield* making(inbox.address)
  assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, { from: sender }), /^250/)
  const [event] = yield* eventually(Mailbox.events(inbox), (events) => events.length === 1)
  return event
})

layer(world, { excludeTestServices: true })("With an allow list", (it) => {
  it.effect.each(forged)("a forged mail does not pass: %s", ([, making]) =>
    Effect.gen(function* () {
      const inbox = yield* allowing([
        "ada@bank.example",
        "*.bank.example",
        "bank.example",
        "strict.example",
        "quiet.example"
      ])
      const event = yield* arrive(inbox, making)
      assert.deepInclude(event.delivery, { status: "held", reason: "sender_not_allowed" })
      assert.strictEqual(event.trust.reasons[1], "sender_not_allowed")
      assert.isNull(event.trust.rule)
    })
  )

  it.effect.each(["ada@bank.example\u200e", "ada@bank.example\uff0f"])(
    "an author at what is no domain name is not confirmed by another such name: %j",
    (from) =>
      Effect.gen(function* () {
        const inbox = yield* allowing(["bank.example"])
        const { trust } = yield* arrive(inbox, unsigned(`Ada <${from}>`, "x@xn--a.evil.example"))
        assert.deepInclude(trust, { aligned: false, reasons: ["ambiguous_author", "sender_not_allowed"] })
      })
  )

  it.effect.each(honest)("honest mail passes, or its event says why not: %s", ([, making, passes, reason]) =>
    Effect.gen(function* () {
      const inbox = yield* allowing([
        "bank.example",
        "*.bank.example",
        "direct.example",
        "plain.example",
        "quiet.example"
      ])
      const event = yield* arrive(inbox, making)
      assert.deepStrictEqual(event.trust.reasons, [reason, passes ? "allowed" : "sender_not_allowed"])
      assert.strictEqual(event.trust.aligned, passes)
      assert.strictEqual(event.delivery.reason, passes ? undefined : "sender_not_allowed")
    })
  )

  it.effect("what a relay says of its client confirms nothing, and a signature does", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* allowing(["ada@bank.example"])
      const allowed = { match: "network", value: "192.0.2.1" }
      for (const rule of [allowed, { match: "envelope", value: "bank.example" }]) {
        yield* inlet.call("POST", `/api/domains/${inbox.domainId}/sender-rules`, {
          key: inbox.key,
          body: { list: "allow", ...rule }
        })
      }
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", { key: inbox.key, body: { scope: "ingest" } })
      const query = new URLSearchParams({ from: "ada@bank.example", recipient: inbox.address, client: "192.0.2.1" })
      const unsigned = mail(ada, inbox.address)
      for (const body of [unsigned, yield* signed(mail(ada, inbox.address), "bank.example", "bank")]) {
        const { status, text } = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/ingest?${query}`, {
          key: json.api_key,
          body,
          headers: { "content-type": "message/rfc822" }
        })
        assert.strictEqual(status, 202, text)
      }
      const events = yield* eventually(Mailbox.events(inbox), (all) => all.length === 2)
      for (const { authentication } of events) assert.deepInclude(authentication, { spf: "pass", dmarc: "pass" })
      assert.sameDeepMembers(
        events.map(({ trust }) => trust.reasons),
        [
          ["word_of_relay", "sender_not_allowed"],
          ["dmarc_pass", "allowed"]
        ]
      )
    })
  )
})
