import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId } from "../../src/model/Domain.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as McpClient from "../mcp/McpClient.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const aligned = { spf: "pass", dkim: "pass", dmarc: "pass" }

interface Listed {
  readonly event_id: string
  readonly subject: string
  readonly trust: { readonly aligned: boolean; readonly rule: string | null; readonly reasons: ReadonlyArray<string> }
  readonly delivery: { readonly status: string; readonly reason?: string }
}

/** A domain, and the requests about its sender rules. */
const withDomain = Effect.fnUntraced(function* (webhookUrl?: string) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox(webhookUrl)
  const call = (method: "DELETE" | "GET" | "POST", path: string, body?: unknown) =>
    inlet.call(method, `/api/domains/${inbox.domainId}${path}`, {
      key: inbox.key,
      ...(body === undefined ? {} : { body })
    })
  const rule = (body: Readonly<Record<string, unknown>>) =>
    Effect.map(call("POST", "/sender-rules", body), ({ json, status, text }) => {
      assert.strictEqual(status, 201, text)
      return json as { readonly id: string; readonly value: string; readonly note: string | null }
    })
  /** A simulated mail of this author, whose domain confirms it by default. Returns its event. */
  const mail = Effect.fnUntraced(function* (
    from: string,
    {
      authentication = aligned,
      localPart = "agent"
    }: { readonly authentication?: object; readonly localPart?: string } = {}
  ) {
    const recipient = `${localPart}@${inbox.domain}`
    const { json, status, text } = yield* call("POST", "/simulate?wait=10", {
      from,
      recipient,
      authentication,
      subject: from,
      text: "Words. Your code is 394758."
    })
    assert.strictEqual(status, 201, text)
    return (yield* call("GET", `/events/${json.events[0].event_id}`)).json as Listed
  })
  return { ...inbox, call, rule, mail }
})

const ada = "ada@partner.example"
const eve = "eve@stranger.example"

layer(Layer.merge(TestInlet.layer({ REPLAYS_PER_MINUTE: "0", SENDER_CHECKS: "false" }), WebhookReceiver.layer), {
  excludeTestServices: true
})("A sender rule", (it) => {
  it.effect("that allows an author holds mail of all others, and of the author where nothing confirms it", () =>
    Effect.gen(function* () {
      const { mail, rule } = yield* withDomain()
      assert.deepStrictEqual((yield* mail(eve)).trust, { aligned: true, rule: null, reasons: ["dmarc_pass"] })
      const { id } = yield* rule({ list: "allow", value: "Ada@Partner.Example" })
      const passed = yield* mail(ada)
      assert.deepStrictEqual(passed.trust, { aligned: true, rule: id, reasons: ["dmarc_pass", "allowed"] })
      assert.notProperty(passed.delivery, "reason")
      const forged = yield* mail(ada, { authentication: { dmarc: "fail" } })
      assert.deepStrictEqual(forged.trust, {
        aligned: false,
        rule: null,
        reasons: ["dmarc_fail", "sender_not_allowed"]
      })
      for (const { delivery } of [forged, yield* mail(eve)]) {
        assert.deepInclude(delivery, { status: "held", reason: "sender_not_allowed" })
      }
    })
  )

  it.effect("takes an address, a domain, its subdomains or a network, in any spelling, and refuses others", () =>
    Effect.gen(function* () {
      const { call, mail, rule } = yield* withDomain()
      const values = [
        ["author", "Partner.Example.", "partner.example"],
        ["author", "*.münchen.example", "*.xn--mnchen-3ya.example"],
        ["envelope", "Bounce@Partner.Example", "bounce@partner.example"],
        ["network", "192.0.2.77/24", "192.0.2.0/24"],
        ["network", "2001:DB8:0::/32", "2001:db8::/32"],
        ["network", "::ffff:198.51.100.7", "198.51.100.7"],
        ["network", "::ffff:203.0.113.9/120", "203.0.113.0/24"]
      ] as const
      for (const [match, value, canonical] of values) {
        assert.strictEqual((yield* rule({ list: "allow", match, value })).value, canonical)
      }
      const { json } = yield* call("GET", "/sender-rules")
      assert.deepStrictEqual(
        json.sender_rules.map(({ value }: { readonly value: string }) => value),
        values.map(([, , canonical]) => canonical)
      )
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [ada, "ada@a.b.münchen.example", "ada@münchen.example", "ada@notpartner.example"],
          (from) => Effect.map(mail(from), ({ delivery }) => delivery.reason ?? "passed")
        ),
        ["passed", "passed", "sender_not_allowed", "sender_not_allowed"]
      )
      const bad: ReadonlyArray<readonly [string, string]> = [
        ["author", "*"],
        ["author", "example"],
        ["author", "a b@partner.example"],
        ["author", "*@partner.example"],
        ["author", "192.0.2.1"],
        ["network", "partner.example"],
        ["network", "192.0.2.0/33"],
        ["network", "7"],
        // Other networks than they seem.
        ["network", "192.168.1/24"],
        ["network", "010.1.2.3"],
        ["network", "0x0a.1.2.3"],
        ["network", "192.0.2.0/08"],
        ["network", "fe80::1%eth0"]
      ]
      for (const [match, value] of bad) {
        const { json, status } = yield* call("POST", "/sender-rules", { list: "block", match, value })
        assert.strictEqual(status, 400, value)
        assert.match(json.error, /^value: Expected an (address|IP address)/, value)
      }
      const network = yield* call("POST", "/sender-rules", { list: "block", value: "192.0.2.0/24" })
      assert.match(network.json.error, /set match to network$/)
      for (const note of ["a\0b", "two\nlines", "\ud800", "🎏".repeat(201)]) {
        const { json } = yield* call("POST", "/sender-rules", { list: "block", value: "noted.example", note })
        assert.match(json.error, /^note: Expected up to 200 characters/)
      }
      const note = "🎏".repeat(200)
      assert.strictEqual((yield* rule({ list: "block", value: "noted.example", note })).note, note)
      const twice = yield* call("POST", "/sender-rules", { list: "block", value: "partner.example" })
      assert.strictEqual(twice.status, 409)
      assert.include(twice.json.error, json.sender_rules[0].id)
    })
  )

  it.effect("that blocks an author counts before every allow rule, and without a confirmation", () =>
    Effect.gen(function* () {
      const { mail, rule } = yield* withDomain()
      yield* rule({ list: "allow", value: "partner.example" })
      const { id } = yield* rule({ list: "block", value: ada })
      for (const authentication of [aligned, { dmarc: "fail" }]) {
        const { delivery, trust } = yield* mail(ada, { authentication })
        assert.deepInclude(delivery, { status: "held", reason: "sender_blocked" })
        assert.strictEqual(trust.rule, id)
      }
      assert.notProperty((yield* mail("bob@partner.example")).delivery, "reason")
    })
  )

  it.effect("that blocks an author is not evaded by no author, a second one, or a damaged field", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, call, rule } = yield* withDomain()
      const { id } = yield* rule({ list: "block", value: "spam.example" })
      const heldBy = Effect.fnUntraced(function* (number: number, header: string, from: string) {
        const subject = `evasion ${number}`
        yield* Mailbox.deliver(inlet.smtpPort, address, `${header}Subject: ${subject}\r\n\r\nhello`, { from })
        const { json } = yield* eventually(
          call("GET", `/events?subject=${encodeURIComponent(subject)}`),
          ({ json }) => json.events.length === 1
        )
        return json.events[0].trust.rule
      })
      const headers: ReadonlyArray<readonly [string, string]> = [
        ["", "boss@spam.example"],
        ["From: boss@spam.example, x@fine.example\r\n", "x@fine.example"],
        ["From: x@fine.example, boss@spam.example\r\n", "x@fine.example"],
        ["From: =?utf-8?q?boss=40spam=2Eexample?=\r\n", "boss@spam.example"],
        ["From: x@fine.example\r\nFrom: boss@spam.example\r\n", "x@fine.example"],
        ['From: "boss"@SPAM.example.\r\n', "x@fine.example"]
      ]
      for (const [number, [header, from]] of headers.entries()) {
        assert.strictEqual(yield* heldBy(number, header, from), id, header)
      }
      assert.isNull(yield* heldBy(9, "From: x@fine.example\r\n", "x@fine.example"))
    })
  )

  it.effect("of a webhook is about its addresses alone, and its allow rules replace those of the domain", () =>
    Effect.gen(function* () {
      const { call, mail, rule } = yield* withDomain()
      const made = yield* call("POST", "/webhooks", { pattern: "billing" })
      const webhook_id = made.json.webhook.id as string
      yield* rule({ list: "allow", value: "partner.example" })
      yield* rule({ list: "allow", value: "bank.example", webhook_id })
      yield* rule({ list: "block", value: "spam@bank.example" })
      const reasonOf = (from: string, localPart: string) =>
        Effect.map(mail(from, { localPart }), ({ delivery }) => delivery.reason ?? "passed")
      assert.strictEqual(yield* reasonOf(ada, "agent"), "passed")
      assert.strictEqual(yield* reasonOf(ada, "billing"), "sender_not_allowed")
      assert.strictEqual(yield* reasonOf("ada@bank.example", "billing+7"), "passed")
      assert.strictEqual(yield* reasonOf("ada@bank.example", "agent"), "sender_not_allowed")
      assert.strictEqual(yield* reasonOf("spam@bank.example", "billing"), "sender_blocked")
      yield* call("DELETE", `/webhooks/${webhook_id}`)
      assert.lengthOf((yield* call("GET", "/sender-rules")).json.sender_rules, 2)
    })
  )

  it.effect("rejects a network or an envelope in the session, and the refusal names the reason", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, call, rule } = yield* withDomain()
      const { id } = yield* rule({ list: "block", match: "envelope", value: "*.stranger.example", action: "reject" })
      const network = yield* rule({ list: "block", match: "network", value: "127.0.0.2", action: "reject" })
      const rcpt = (from: string, localAddress = "127.0.0.1") =>
        Effect.scoped(
          Effect.map(Mailbox.begin(inlet.smtpPort, address, { from, localAddress }), ({ replies }) => replies[0])
        )
      assert.strictEqual(yield* rcpt("news@a.stranger.example"), "550 5.7.1 This domain takes no mail from this sender")
      assert.match((yield* rcpt("news@stranger.example")) ?? "", /^250/)
      const one = yield* rule({ list: "block", match: "envelope", value: "bad@fine.example", action: "reject" })
      for (const typed of ["bad@fine.example", '"bad"@fine.example', '"b\\ad"@FINE.example']) {
        yield* eventually(rcpt(typed), (reply) => reply?.startsWith("550") === true)
      }
      yield* call("DELETE", `/sender-rules/${one.id}`)
      assert.match((yield* rcpt("news@partner.example", "127.0.0.2")) ?? "", /^550/)
      yield* eventually(call("GET", "/refusals?reason=sender_blocked"), ({ json }) => json.refusals.length >= 5)
      yield* call("DELETE", `/sender-rules/${id}`)
      yield* call("DELETE", `/sender-rules/${network.id}`)
      // A busy domain's rules are remembered for a second.
      yield* eventually(rcpt("news@a.stranger.example"), (reply) => reply?.startsWith("250") === true)
      for (const body of [
        { list: "allow", match: "network", value: "192.0.2.1", action: "reject" },
        { list: "block", value: eve, action: "reject" }
      ]) {
        const refused = yield* call("POST", "/sender-rules", body)
        assert.strictEqual(refused.status, 400)
        assert.match(refused.json.error, /^action: Expected hold/)
      }
    })
  )

  it.effect("holds mail from its webhook, waits, streams and agents, until it is released", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const inlet = yield* TestInlet
      const { call, domainId, key, mail, rule } = yield* withDomain(receiver.url)
      yield* rule({ list: "allow", value: "partner.example" })
      const held = yield* mail(eve)
      const passed = yield* mail(ada)
      assert.strictEqual((yield* receiver.next).event.event_id, passed.event_id)
      const idsOf = (query: string) =>
        Effect.map(call("GET", `/events?${query}`), ({ json }) => json.events.map(({ event_id }: Listed) => event_id))
      assert.deepStrictEqual(yield* idsOf("order=asc"), [held.event_id, passed.event_id])
      assert.deepStrictEqual(yield* idsOf("trust=held"), [held.event_id])
      assert.deepStrictEqual(yield* idsOf("wait=5"), [passed.event_id])
      assert.deepStrictEqual(yield* idsOf("wait=5&trust=all&order=asc"), [held.event_id, passed.event_id])
      const client = yield* McpClient.one(inlet.url, key)
      const mails = (tool: string, parameters: McpClient.Arguments) =>
        Effect.map(client.call(tool, parameters), ({ json }) =>
          json.mails.map((one: { readonly event_id: string }) => one.event_id)
        )
      for (const tool of ["list_mail", "wait_for_mail"]) {
        assert.deepStrictEqual(yield* mails(tool, {}), [passed.event_id])
        assert.lengthOf(yield* mails(tool, { held: true }), 2)
      }
      const { json: job } = yield* call("POST", "/replays", { status: "held", dry_run: true })
      assert.strictEqual(job.total, 0, "A replay job leaves it held")
      const replayed = yield* call("POST", `/events/${held.event_id}/replay?force=true`)
      assert.strictEqual(replayed.status, 409)
      assert.match(
        replayed.json.error,
        /holds this event \(sender_not_allowed\)\. POST \/api\/domains\/\S+\/release delivers it/
      )
      assert.deepStrictEqual(yield* idsOf("trust=held"), [held.event_id])

      const released = yield* call("POST", `/events/${held.event_id}/release`, {})
      assert.strictEqual(released.status, 202, released.text)
      assert.deepInclude(released.json, { event_id: held.event_id, sender_rule: null })
      assert.deepInclude(released.json.delivery, { status: "pending" })
      const second = yield* receiver.next
      assert.strictEqual(second.event.event_id, held.event_id)
      assert.deepStrictEqual(second.event.trust.reasons, ["dmarc_pass", "sender_not_allowed"])
      assert.deepStrictEqual(yield* idsOf("trust=held"), [])
      const again = yield* call("POST", `/events/${held.event_id}/release`, {})
      assert.strictEqual(again.status, 409)
      const elsewhere = yield* inlet.inbox()
      const foreign = yield* inlet.call("POST", `/api/domains/${domainId}/events/${held.event_id}/release`, {
        key: elsewhere.key,
        body: {}
      })
      assert.strictEqual(foreign.status, 404)
    })
  )

  it.effect("of mail that no webhook takes is told to agents until its release", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, key, mail, rule } = yield* withDomain()
      yield* rule({ list: "allow", value: "partner.example" })
      const { event_id } = yield* mail(eve)
      const client = yield* McpClient.one(inlet.url, key)
      const hold = Effect.map(client.call("list_mail", { held: true }), ({ json }) => json.mails[0].not_let_in)
      assert.strictEqual(yield* hold, "sender_not_allowed")
      const released = yield* call("POST", `/events/${event_id}/release`, {})
      assert.deepInclude(released.json.delivery, { status: "held" })
      assert.isUndefined(yield* hold)
    })
  )

  it.effect("is made by a release with allow, for a confirmed author that no rule blocks", () =>
    Effect.gen(function* () {
      const { call, mail, rule } = yield* withDomain()
      yield* rule({ list: "allow", value: "partner.example" })
      yield* rule({ list: "block", value: "worse@stranger.example" })
      const release = (event: Listed) => call("POST", `/events/${event.event_id}/release`, { allow: true })
      const forged = yield* mail(eve, { authentication: { dmarc: "fail" } })
      const unconfirmed = yield* release(forged)
      assert.strictEqual(unconfirmed.status, 409)
      assert.match(unconfirmed.json.error, /simulate it again with \{"authentication": \{"dmarc": "pass"\}\}/)
      assert.notInclude(unconfirmed.json.error, "network", "No rule about its network would match")
      assert.strictEqual((yield* release(yield* mail("worse@stranger.example"))).status, 409)
      const { json, status, text } = yield* release(yield* mail(eve))
      assert.strictEqual(status, 202, text)
      assert.deepInclude(json.sender_rule, { list: "allow", match: "author", value: eve })
      assert.strictEqual(json.delivery.status, "held", "Its webhook takes none")
      assert.notProperty(json.delivery, "reason")
      assert.notProperty((yield* mail(eve)).delivery, "reason")
      assert.deepInclude((yield* call("GET", `/events/${forged.event_id}`)).json.delivery, {
        reason: "sender_not_allowed"
      })
    })
  )

  it.effect("that a release with allow makes is the one that counts for its address, and is made once", () =>
    Effect.gen(function* () {
      const { call, mail, rule } = yield* withDomain()
      const { json } = yield* call("POST", "/webhooks", { pattern: "billing" })
      yield* rule({ list: "allow", value: "partner.example" })
      yield* rule({ list: "allow", value: "bank.example", webhook_id: json.webhook.id })
      const at = { localPart: "billing" }
      const held = [yield* mail(eve, at), yield* mail(eve, at), yield* mail(eve), yield* mail(eve)]
      const released = yield* Effect.forEach(held, ({ event_id }) =>
        call("POST", `/events/${event_id}/release`, { allow: true })
      )
      assert.deepStrictEqual(
        released.map(({ json, status }) => [status, json.sender_rule?.webhook_id]),
        [
          [202, json.webhook.id],
          [202, json.webhook.id],
          [202, null],
          [202, null]
        ]
      )
      assert.lengthOf((yield* call("GET", "/sender-rules")).json.sender_rules, 4)
      assert.notProperty((yield* mail(eve, at)).delivery, "reason")
      assert.notProperty((yield* mail(eve)).delivery, "reason")
    })
  )

  it.effect("is named in the trace of the mail that it holds, with what to do", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domain, key, mail, rule } = yield* withDomain()
      yield* rule({ list: "allow", value: "partner.example" })
      yield* rule({ list: "block", value: "worse@stranger.example" })
      yield* mail(eve)
      yield* mail(ada, { authentication: { dmarc: "fail" } })
      const { event_id } = yield* mail("worse@stranger.example")
      const { json } = yield* inlet.call("GET", `/api/trace?to=agent@${domain}`, { key })
      const told: ReadonlyArray<{ readonly outcome: string; readonly summary: string; readonly remedy: string }> =
        json.entries
      assert.deepStrictEqual(
        told.map(({ outcome, summary }) => [outcome, summary]),
        [
          ["held", "Held, because a sender rule blocks worse@stranger.example, its envelope or its network"],
          [
            "held",
            `Held, because no sender rule allows it. A rule for ${ada} would not count, since DMARC failed for the domain in From`
          ],
          ["held", `Held, because no sender rule allows ${eve}`]
        ]
      )
      assert.include(told[0]?.remedy, `/events/${event_id}/release`)
    })
  )

  it.effect("about an envelope allows only what SPF passed, and one about a network needs nothing", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, call, rule } = yield* withDomain()
      yield* rule({ list: "allow", match: "envelope", value: "sender.example" })
      yield* rule({ list: "allow", match: "network", value: "127.0.0.3" })
      const sent = (subject: string, localAddress: string) =>
        Mailbox.deliver(inlet.smtpPort, address, `From: a@sender.example\r\nSubject: ${subject}\r\n\r\nWords.\r\n`, {
          from: "a@sender.example",
          localAddress
        })
      yield* sent("unchecked", "127.0.0.1")
      yield* sent("by network", "127.0.0.3")
      const { json } = yield* eventually(call("GET", "/events?order=asc"), ({ json }) => json.events.length === 2)
      assert.deepStrictEqual(
        json.events.map(({ delivery, subject }: Listed) => [subject, delivery.reason ?? "passed"]).sort(),
        [
          ["by network", "passed"],
          ["unchecked", "sender_not_allowed"]
        ]
      )
    })
  )

  it.effect("bounds what a list of passed mail examines, however much a rule holds", () =>
    Effect.gen(function* () {
      const { call, domainId, mail, rule } = yield* withDomain()
      const sql = yield* SqlClient.SqlClient
      const { event_id } = yield* mail(ada)
      yield* rule({ list: "allow", value: "partner.example" })
      yield* Deliveries.pending(DomainId.make(domainId), 5_100)
      yield* sql`
        UPDATE deliveries SET status = 'held', hold_reason = 'sender_not_allowed'
        WHERE domain_id = ${domainId} AND event_id <> ${event_id}
      `
      const first = yield* call("GET", "/events?trust=passed&view=brief")
      assert.deepStrictEqual(first.json.events, [])
      const next = yield* call("GET", `/events?trust=passed&view=brief&cursor=${first.json.next_cursor}`)
      assert.deepStrictEqual(
        next.json.events.map((event: Listed) => event.event_id),
        [event_id]
      )
      assert.isNull(next.json.next_cursor)
    })
  )

  it.effect("is one of at most 200 of a domain", () =>
    Effect.gen(function* () {
      const { call, rule } = yield* withDomain()
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        (index) => rule({ list: "block", value: `spam${index}.example` })
      )
      const { json, status } = yield* call("POST", "/sender-rules", { list: "block", value: "more.example" })
      assert.strictEqual(status, 409)
      assert.match(json.error, /^A domain has at most 200 sender rules/)
    })
  )
})
