import { generateKeyPairSync } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer } from "effect"
import { dkimSign, sealMessage } from "mailauth"
import * as SenderCheck from "../../src/sender/SenderCheck.ts"
import type { Answer } from "../ApiCall.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const pair = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "der" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" }
})
const key = `v=DKIM1; k=rsa; p=${pair.publicKey.toString("base64")}`

const body = "Date: Sat, 21 Nov 2026 10:00:00 +0000\r\nTo: you@there.example\r\nSubject: Hello\r\n\r\nSigned words.\r\n"
const from = (domain: string, more = "") =>
  `From: Ada <ada@${domain}>\r\nMessage-ID: <${domain}@sender>\r\n${more}${body}`

const signer = (domain: string) => ({ signingDomain: domain, selector: "s1", privateKey: pair.privateKey })

const signed = Effect.fnUntraced(function* (domain: string, message = from(domain)) {
  const { signatures } = yield* Effect.promise(() =>
    dkimSign(message, { ...signer(domain), signatureData: [signer(domain)] })
  )
  return `${signatures}${message}`
})

/** Publishes the records of a domain whose mail only loopback may send. */
const publish = Effect.fnUntraced(function* (
  domain: string,
  spf = "v=spf1 ip4:127.0.0.1 -all",
  dmarc = "v=DMARC1; p=reject"
) {
  const dns = yield* DnsServer
  yield* dns.answer("TXT", domain, { text: [spf.match(/.{1,200}/g) ?? []] })
  yield* dns.answer("TXT", `s1._domainkey.${domain}`, { text: [key.match(/.{1,200}/g) ?? []] })
  yield* dns.answer("TXT", `_dmarc.${domain}`, { text: [dmarc] })
})

/** Sends a message from this address. Returns its event and its raw message. */
const arrive = Effect.fnUntraced(function* (message: string | Uint8Array, sender: string) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, { from: sender }), /^250/)
  const [event] = yield* eventually(Mailbox.events(inbox), (events) => events.length === 1)
  return { event, raw: yield* Mailbox.raw(inbox, event.event_id) }
})

const world = Layer.unwrap(
  Effect.gen(function* () {
    const context = yield* Layer.build(DnsServer.layer)
    const { server } = Context.get(context, DnsServer)
    return Layer.merge(TestInlet.layer({ DNS_SERVERS: server }), Layer.succeedContext(context))
  })
)

const fieldOf = (raw: string) => raw.slice(0, raw.indexOf("Return-Path:"))

layer(world, { excludeTestServices: true })("The sender check", (it) => {
  it.effect("passes a signed message from a permitted server", () =>
    Effect.gen(function* () {
      yield* publish("good.example")
      const { event, raw } = yield* arrive(yield* signed("good.example"), "ada@good.example")
      assert.deepStrictEqual(event.authentication, { spf: "pass", dkim: "pass", dmarc: "pass", arc: "none" })
      const field = fieldOf(raw)
      assert.match(field, /^Authentication-Results: mx\.inlet\.test;(?:\r\n[ \t].*)*\r\n$/)
      assert.match(field, /dkim=pass[\s\S]*header\.d=good\.example|dkim=pass[\s\S]*header\.i=@good\.example/)
      assert.match(field, /spf=pass/)
      assert.match(field, /dmarc=pass/)
    })
  )

  it.effect("verifies a message whose first line starts with whitespace, and keeps that line", () =>
    Effect.gen(function* () {
      yield* publish("blank.example")
      const { event, raw } = yield* arrive(` ${from("blank.example")}`, "ada@blank.example")
      assert.deepInclude(event, { from: "ada@blank.example" })
      assert.deepStrictEqual(event.authentication, { spf: "pass", dkim: "none", dmarc: "pass", arc: "none" })
      assert.include(raw, `\r\n ${from("blank.example")}`)
    })
  )

  it.effect("fails a changed body from a foreign server", () =>
    Effect.gen(function* () {
      yield* publish("changed.example", "v=spf1 ip4:192.0.2.1 -all")
      const message = (yield* signed("changed.example")).replace("Signed words", "Other words")
      const { event } = yield* arrive(message, "ada@changed.example")
      assert.deepStrictEqual(event.authentication, { spf: "fail", dkim: "fail", dmarc: "fail", arc: "none" })
    })
  )

  it.effect("distinguishes a softfail, a neutral and a broken SPF record", () =>
    Effect.gen(function* () {
      yield* publish("soft.example", "v=spf1 ~all")
      yield* publish("neutral.example", "v=spf1 ?all")
      yield* publish("broken.example", "v=spf1 ip4:nonsense -all")
      const spf = (domain: string) =>
        Effect.map(arrive(from(domain), `ada@${domain}`), ({ event }): string => event.authentication.spf)
      assert.strictEqual(yield* spf("soft.example"), "softfail")
      assert.strictEqual(yield* spf("neutral.example"), "neutral")
      assert.strictEqual(yield* spf("broken.example"), "permerror")
    })
  )

  it.effect("returns none for a domain without records and for a bounce without a sender", () =>
    Effect.gen(function* () {
      const none = { spf: "none", dkim: "none", dmarc: "none", arc: "none" }
      assert.deepStrictEqual((yield* arrive(from("silent.example"), "ada@silent.example")).event.authentication, none)
      const bounce = yield* arrive(from("silent.example"), "")
      assert.deepStrictEqual(bounce.event.authentication, none)
    })
  )

  it.effect("fails DMARC for another domain in From", () =>
    Effect.gen(function* () {
      yield* publish("victim.example")
      yield* publish("mallory.example")
      const forged = yield* signed("mallory.example", from("victim.example"))
      const { event } = yield* arrive(forged, "ada@mallory.example")
      assert.deepStrictEqual(event.authentication, { spf: "pass", dkim: "pass", dmarc: "fail", arc: "none" })
      assert.strictEqual(event.from, "ada@victim.example")
    })
  )

  it.effect("returns permerror for DMARC with two From fields, and uses the first author", () =>
    Effect.gen(function* () {
      yield* publish("first.example")
      const { event, raw } = yield* arrive(
        from("first.example", "From: Eve <eve@second.example>\r\n"),
        "ada@first.example"
      )
      assert.strictEqual(event.authentication.dmarc, "permerror")
      assert.strictEqual(event.from, "ada@first.example")
      // One field, whose last result is ours.
      assert.match(fieldOf(raw), /^Authentication-Results: (?:.*\r\n[ \t])*dmarc=permerror\r\n$/)
    })
  )

  it.effect("never passes DMARC for another domain, for any malformed From field", () =>
    Effect.gen(function* () {
      yield* publish("mallory.example")
      yield* publish("prey.example", "v=spf1 -all")
      const odd = [
        "From: ada@prey.example <eve@mallory.example>",
        "From: (ada@prey.example) eve@mallory.example",
        'From: "ada@prey.example" <eve@mallory.example>',
        "From: =?utf-8?Q?ada=40prey.example?= <eve@mallory.example>",
        "From: eve@mallory.example, ada@prey.example",
        "From: <ada@prey.example> <eve@mallory.example>",
        "From: friends: eve@mallory.example;",
        "From: nobody"
      ]
      for (const field of odd) {
        const message = yield* signed("mallory.example", `${field}\r\n${body}`)
        const { event } = yield* arrive(message, "ada@prey.example")
        if (event.authentication.dmarc === "pass") assert.strictEqual(event.from, "eve@mallory.example", field)
      }
    })
  )

  it.effect("passes an ARC chain sealed by a forwarder", () =>
    Effect.gen(function* () {
      yield* publish("origin.example")
      yield* publish("forwarder.example")
      const message = yield* signed("origin.example")
      const seal = yield* Effect.promise(() =>
        sealMessage(Buffer.from(message), {
          signingDomain: "forwarder.example",
          selector: "s1",
          privateKey: pair.privateKey,
          authResults: "forwarder.example; dkim=pass header.d=origin.example",
          cv: "none"
        })
      )
      const { event, raw } = yield* arrive(`${seal}${message}`, "ada@forwarder.example")
      assert.strictEqual(event.authentication.arc, "pass")
      assert.match(fieldOf(raw), /arc=pass/)
    })
  )

  it.effect("removes only forged results in its own name from the event and the raw message", () =>
    Effect.gen(function* () {
      const lies = [
        "Authentication-Results: mx.inlet.test; dmarc=pass header.from=bank.example\r\n",
        "authentication-results: (a (nested) comment)\r\n\tMX.Inlet.Test 1; spf=pass\r\n",
        'Authentication-Results: "mx.inlet.test"; dkim=pass\r\n'
      ].join("")
      const others = "Authentication-Results: mx.elsewhere.example; spf=fail\r\n"
      const { event, raw } = yield* arrive(from("silent.example", lies + others), "ada@silent.example")
      const told = event.headers.filter(({ name }: Answer["json"]) => /^authentication-results$/i.test(name))
      assert.deepStrictEqual(
        told.map(({ value }: Answer["json"]) => value),
        ["mx.elsewhere.example; spf=fail"]
      )
      assert.strictEqual(raw.match(/^authentication-results:/gim)?.length, 2)
      assert.isTrue(raw.startsWith("Authentication-Results: mx.inlet.test;"))
      assert.notInclude(raw, "bank.example")
      assert.isTrue(raw.endsWith(others + body))
    })
  )

  it.effect("evaluates as of the time of receipt", () =>
    Effect.gen(function* () {
      yield* publish("expired.example")
      const { server } = yield* DnsServer
      const check = SenderCheck.make({ nameServers: [server], authservId: "mx.inlet.test" })
      const signTime = Date.parse("2025-01-01T00:00:00Z")
      const message = from("expired.example")
      const { signatures } = yield* Effect.promise(() =>
        dkimSign(message, {
          ...signer("expired.example"),
          signTime,
          expires: signTime + 86_400_000,
          signatureData: [signer("expired.example")]
          // The type lacks the expiry time.
        } as never)
      )
      const dkim: Array<string> = []
      for (const receivedAt of ["2025-01-01T23:59:59.000Z", "2025-01-02T00:00:01.000Z"]) {
        const { authentication } = yield* Effect.promise(() =>
          check({
            envelope: { from: "ada@expired.example", helo: "a.example", remoteAddress: "192.0.2.1" },
            bytes: Buffer.from(`${signatures}${message}`),
            receivedAt
          })
        )
        dkim.push(authentication.dkim)
      }
      assert.deepStrictEqual(dkim, ["pass", "neutral"])
    })
  )

  it.effect("verifies a signature of a part of a body with bare LF", () =>
    Effect.gen(function* () {
      yield* publish("feeds.example")
      const { server } = yield* DnsServer
      const check = SenderCheck.make({ nameServers: [server], authservId: "mx.inlet.test" })
      const message = `${from("feeds.example")}\nTwo\n\n lines \r\n\n`
      const { signatures } = yield* Effect.promise(() =>
        dkimSign(message, {
          ...signer("feeds.example"),
          signatureData: [{ ...signer("feeds.example"), maxBodyLength: 20 }]
          // The type lacks the length.
        } as never)
      )
      const { authentication } = yield* Effect.promise(() =>
        check({
          envelope: { from: "ada@feeds.example", helo: "a.example", remoteAddress: "192.0.2.1" },
          bytes: Buffer.from(`${signatures}${message}`),
          receivedAt: "2026-11-21T10:00:00.000Z"
        })
      )
      assert.include(signatures, "l=20")
      assert.strictEqual(authentication.dkim, "pass")
    })
  )

  it.effect("skips a header with a long run of blanks, whose cost would be quadratic", () =>
    Effect.gen(function* () {
      const check = SenderCheck.make({ nameServers: ["127.0.0.1:9"], authservId: "mx.inlet.test" })
      const run = "\r".repeat(100_000) + "\t ".repeat(30_000)
      const message = Buffer.from(`From: a@a.example\r\nX-Run: ${run}x\r\n\r\nHello\r\n`)
      const before = process.cpuUsage().user
      const { authentication } = yield* Effect.promise(() =>
        check({
          envelope: { from: "a@a.example", helo: "a.example", remoteAddress: "192.0.2.1" },
          bytes: message,
          receivedAt: "2026-11-21T10:00:00.000Z"
        })
      )
      assert.strictEqual(authentication.dkim, "permerror")
      assert.isBelow((process.cpuUsage().user - before) / 1_000, 3_000)
    })
  )

  it.effect("skips a header of more than 256 KiB or 2,000 lines", () =>
    Effect.gen(function* () {
      const permerror = { spf: "permerror", dkim: "permerror", dmarc: "permerror", arc: "permerror" }
      const long = `X-Long: ${"a".repeat(900)}\r\n`.repeat(300)
      assert.deepStrictEqual(
        (yield* arrive(from("good.example", long), "ada@good.example")).event.authentication,
        permerror
      )
      const folded = `X-Folded: a${"\r\n ".repeat(2_001)}b\r\n`
      const { event, raw } = yield* arrive(from("good.example", folded), "ada@good.example")
      assert.deepStrictEqual(event.authentication, permerror)
      assert.match(raw, /^Authentication-Results: mx\.inlet\.test;\r\n\tspf=permerror; dkim=permerror/)
    })
  )

  it.effect.each([
    ["a seal of empty tags", `ARC-Authentication-Results: i=1; a${";;a".repeat(600)}`],
    ["a seal of more than 16 KiB", `ARC-Seal: i=1; b=${"A".repeat(17_000)}`],
    ["a signature with 1,000 names", `DKIM-Signature: v=1; h=from${":b".repeat(1_000)}; b=AAAA`]
  ])("skips a header with %s, whose cost would be quadratic", ([, field]) =>
    Effect.gen(function* () {
      const check = SenderCheck.make({ nameServers: ["127.0.0.1:9"], authservId: "mx.inlet.test" })
      const { authentication } = yield* Effect.promise(() =>
        check({
          envelope: { from: "", helo: "a.example", remoteAddress: "192.0.2.1" },
          bytes: Buffer.from(`${field}\r\n${from("silent.example")}`),
          receivedAt: "2026-11-21T10:00:00.000Z"
        })
      )
      assert.deepStrictEqual(authentication, {
        spf: "permerror",
        dkim: "permerror",
        dmarc: "permerror",
        arc: "permerror"
      })
    })
  )

  it.effect("fails DMARC for a forged author, however many questions the envelope's domain takes", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const numbers = Array.from({ length: 10 }, (_, number) => number)
      yield* publish("forged.example", "v=spf1 -all")
      yield* publish("asking.example", `v=spf1 ${numbers.map((n) => `mx:m${n}.example`).join(" ")} -all`)
      for (const n of numbers) {
        yield* dns.answer("MX", `m${n}.example`, { mx: numbers.map((host) => [10, `h${host}.m${n}.example`]) })
        for (const host of numbers) yield* dns.answer("A", `h${host}.m${n}.example`, { address: "192.0.2.9" })
      }
      const { event } = yield* arrive(from("forged.example"), "eve@asking.example")
      assert.deepInclude(event.authentication, { spf: "temperror", dmarc: "fail" })
    })
  )

  it.effect("ends SPF after ten look-ups and two void ones", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* publish(
        "includes.example",
        `v=spf1 ${Array.from({ length: 20 }, (_, n) => `include:i${n}.example`).join(" ")} -all`
      )
      for (let n = 0; n < 20; n++) yield* dns.answer("TXT", `i${n}.example`, { text: ["v=spf1 ip4:192.0.2.9 -all"] })
      assert.strictEqual(
        (yield* arrive(from("includes.example"), "ada@includes.example")).event.authentication.spf,
        "permerror"
      )
      const asked = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => `i${n}.example`),
        (name) => dns.asked("TXT", name)
      )
      assert.isAtMost(asked.filter((times) => times > 0).length, 10)
      yield* publish("void.example", "v=spf1 a:v1.example a:v2.example a:v3.example a:v4.example -all")
      assert.strictEqual(
        (yield* arrive(from("void.example"), "ada@void.example")).event.authentication.spf,
        "permerror"
      )
    })
  )

  it.effect("delays no 250 for silent DNS, and the event follows the result", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, from("silent.example"), { from: "ada@silent.example" })
      // Each name is a new one, because silence is cached. The quickest counts, because the machine may be busy.
      const times = yield* Effect.forEach(["one.example", "two.example", "three.example"], (name) =>
        Effect.gen(function* () {
          yield* dns.answer("TXT", name, "silence")
          const sent = Mailbox.deliver(inlet.smtpPort, inbox.address, from(name), { from: `ada@${name}` })
          const [time, reply] = yield* Effect.timed(sent)
          assert.match(reply, /^250 /)
          return Duration.toMillis(time)
        })
      )
      assert.isBelow(Math.min(...times), 1_500)
      const [time, events] = yield* Effect.timed(eventually(Mailbox.events(inbox), (found) => found.length === 4))
      assert.isAbove(Duration.toMillis(time), 1_500)
      assert.lengthOf(
        events.filter(({ authentication }) => authentication.spf === "temperror"),
        3
      )
    })
  )

  it.effect("returns temperror within 5 s of silent DNS, without delaying other mail", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      for (const name of ["mute.example", "_dmarc.mute.example"]) yield* dns.answer("TXT", name, "silence")
      const started = performance.now()
      const slow = yield* Effect.forkChild(arrive(from("mute.example"), "ada@mute.example"))
      yield* arrive(from("silent.example"), "ada@silent.example")
      assert.isUndefined(slow.pollUnsafe())
      const { event } = yield* Fiber.join(slow)
      assert.isBelow(performance.now() - started, 20_000)
      assert.strictEqual(event.authentication.spf, "temperror")
      assert.strictEqual(event.authentication.dmarc, "temperror")
    })
  )

  it.effect("limits the DNS queries of a message with hundreds of signatures", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      const signature = (n: number) =>
        `DKIM-Signature: v=1; a=rsa-sha256; d=d${n}.example; s=s1; h=from; bh=AAAA; b=AAAA\r\n`
      const { event } = yield* arrive(
        from("silent.example", Array.from({ length: 800 }, (_, n) => signature(n)).join("")),
        "ada@silent.example"
      )
      assert.notStrictEqual(event.authentication.dkim, "pass")
      const asked = yield* Effect.forEach(
        Array.from({ length: 800 }, (_, n) => `s1._domainkey.d${n}.example`),
        (name) => dns.asked("TXT", name)
      )
      assert.isAtMost(asked.filter((times) => times > 0).length, 100)
    })
  )

  it.effect("fetches no BIMI logo", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* publish("logo.example")
      yield* dns.answer("TXT", "default._bimi.logo.example", { text: ["v=BIMI1; l=https://127.0.0.1:1/logo.svg"] })
      yield* arrive(yield* signed("logo.example"), "ada@logo.example")
      assert.strictEqual(yield* dns.asked("TXT", "default._bimi.logo.example"), 0)
    })
  )
})

layer(TestInlet.layer({ SENDER_CHECKS: "false" }), { excludeTestServices: true })("Without sender checks", (it) => {
  it.effect("every verdict is none, and the raw message has no Authentication-Results of ours", () =>
    Effect.gen(function* () {
      const { event, raw } = yield* arrive(from("good.example"), "ada@good.example")
      assert.deepStrictEqual(event.authentication, { spf: "none", dkim: "none", dmarc: "none", arc: "none" })
      assert.isTrue(raw.startsWith("Return-Path:"))
    })
  )
})
