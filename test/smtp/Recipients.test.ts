import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import { quickest } from "../Quickest.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

const adminToken = "an operator's token"

/** A domain with this status in a workspace of its own. */
const attach = Effect.fnUntraced(function* (name: string, status: string) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { key } = yield* inlet.workspace
  const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
  yield* sql`
    UPDATE domains SET status = ${status}, verified_at = CASE WHEN ${status} <> 'pending_verification' THEN now() END
    WHERE id = ${json.id}
  `
  return { key, domainId: json.id as string, domain: json.domain as string }
})

const operator = Effect.fnUntraced(function* (action: "disable" | "enable", domain: string) {
  const inlet = yield* TestInlet
  const { status } = yield* inlet.call("POST", `/admin/domains/${domain}/${action}`, { key: adminToken })
  assert.strictEqual(status, 200)
})

/** The replies to RCPT for these addresses, in one session. */
const replies = Effect.fnUntraced(function* (...addresses: ReadonlyArray<string>) {
  const { smtpPort } = yield* TestInlet
  const dialog = yield* Mailbox.begin(smtpPort, addresses, { parameters: " SMTPUTF8" })
  return dialog.replies
})

layer(TestInlet.layer({ ADMIN_TOKEN: adminToken, MAX_EMAILS_PER_DAY: "0" }), {
  excludeTestServices: true
})("RCPT", (it) => {
  it.effect("refuses a busy domain within 1 s of being disabled", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domain, domainId } = yield* attach("busy.example", "live")
      yield* Effect.replicateEffect(replies(`ada@${domain}`), 20, { concurrency: 5 })
      const dialog = yield* Mailbox.begin(inlet.smtpPort, [`ada@${domain}`])
      yield* operator("disable", domain)
      assert.match(yield* Mailbox.data(dialog, "Subject: too late\r\n\r\n"), /^550 5\.1\.2 /)
      assert.deepStrictEqual(yield* Mailbox.stored(domainId), [])
      yield* Effect.sleep("1.1 seconds")
      assert.match((yield* replies(`ada@${domain}`))[0] ?? "", /^550 5\.1\.2 /)
    })
  )

  it.effect("answers 550 5.1.2 for an unknown domain", () =>
    Effect.gen(function* () {
      const [reply] = yield* replies("someone@unknown.example")
      assert.match(reply ?? "", /^550 5\.1\.2 /)
    })
  )

  it.effect.each(["mx_pending", "verified", "live"])("accepts mail for a domain that is %s", (status) =>
    Effect.gen(function* () {
      const { domain } = yield* attach(`${status.replace("_", "-")}.example`, status)
      const [reply] = yield* replies(`someone@${domain}`)
      assert.match(reply ?? "", /^250 /)
    })
  )

  it.effect("refuses an unverified domain", () =>
    Effect.gen(function* () {
      const { domain } = yield* attach("unproven.example", "pending_verification")
      const [reply] = yield* replies(`someone@${domain}`)
      assert.match(reply ?? "", /^550 5\.1\.2 /)
    })
  )

  it.effect("refuses a disabled domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domain } = yield* inlet.inbox()
      yield* operator("disable", domain)
      assert.match((yield* replies(address))[0] ?? "", /^550 5\.1\.2 /)
      yield* operator("enable", domain)
      assert.match((yield* replies(address))[0] ?? "", /^250 /)
    })
  )

  it.effect("refuses a removed domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key })
      assert.match((yield* replies(address))[0] ?? "", /^550 5\.1\.2 /)
    })
  )

  it.effect("accepts every local part of a domain and reports it as sent", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const locals = [
        "postmaster",
        "Agent-7",
        "agent+task.42",
        "agent+task.43=x",
        "!#$&'*/=?^_`{|}~",
        '"quoted"',
        '"john doe"',
        '"a@b"',
        '"john@doe at@elsewhere.example"',
        '"a \\"b\\" (c), [d]; e:f"',
        "ends.with.",
        "two..dots",
        "grüße",
        "用户",
        "x".repeat(200)
      ]
      const addresses = locals.map((local) => `${local}@${inbox.domain}`)
      const dialog = yield* Mailbox.begin(inlet.smtpPort, addresses, { parameters: " SMTPUTF8" })
      assert.deepStrictEqual(
        dialog.replies.map((reply) => reply.slice(0, 4)),
        addresses.map(() => "250 ")
      )
      assert.match(yield* Mailbox.data(dialog, "Subject: to many\r\n\r\n"), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(events.map(({ recipient }) => recipient).sort(), addresses.toSorted())
    })
  )

  it.effect("accepts a quoted sender unchanged", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const from = '"john q. @doe"@sender.example'
      const reply = yield* Mailbox.deliver(inlet.smtpPort, `"jane doe"@${inbox.domain}`, "Subject: quoted\r\n\r\n", {
        from,
        parameters: " SIZE=100 BODY=8BITMIME"
      })
      assert.match(reply, /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.deepInclude(event, { from, recipient: `"jane doe"@${inbox.domain}` })
      assert.strictEqual(event?.envelope.from, from)
    })
  )

  it.effect("refuses postmaster without a domain", () =>
    Effect.gen(function* () {
      assert.match((yield* replies("postmaster"))[0] ?? "", /^550 5\.1\.2 /)
    })
  )

  it.effect("accepts the domain in any case and with a trailing dot, and reports it in lower case", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const spelled = [`One@${inbox.domain.toUpperCase()}`, `two@${inbox.domain}.`]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, spelled, "Subject: spelled\r\n\r\n"), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(events.map(({ recipient }) => recipient).sort(), [
        `One@${inbox.domain}`,
        `two@${inbox.domain}`
      ])
    })
  )

  it.effect("counts two spellings of one address as one recipient", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const spelled = [`same@${inbox.domain}`, `same@${inbox.domain.toUpperCase()}`, `same@${inbox.domain}.`]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, spelled, "Subject: once\r\n\r\n"), /^250 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
    })
  )

  it.effect("makes one event of an address in two cases, with the last spelling", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const spelled = [`agent@${inbox.domain}`, `Agent@${inbox.domain}`]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, spelled, "Subject: once\r\n\r\n"), /^250 /)
      assert.deepStrictEqual(
        (yield* Mailbox.accepted(inbox)).map(({ recipient }) => recipient),
        [`Agent@${inbox.domain}`]
      )
    })
  )

  it.effect("accepts an internationalized domain as A-label and U-label, in any case and form", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* attach("bücher.example", "mx_pending")
      assert.strictEqual(inbox.domain, "xn--bcher-kva.example")
      const domains = [
        "xn--bcher-kva.example",
        "XN--BCHER-KVA.EXAMPLE",
        "bücher.example",
        "BÜCHER.example",
        "bücher.example".normalize("NFD"),
        "bücher.example.",
        "bücher。example"
      ]
      const addresses = domains.map((domain, index) => `${index}@${domain}`)
      const parameters = " SMTPUTF8"
      const reply = yield* Mailbox.deliver(inlet.smtpPort, addresses, "Subject: Bücher\r\n\r\n", { parameters })
      assert.match(reply, /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ recipient }) => recipient).sort(),
        domains.map((_, index) => `${index}@xn--bcher-kva.example`)
      )
    })
  )

  it.effect.each([
    ["another domain", () => "victim@elsewhere.example"],
    ["a percent route", (known) => `victim%elsewhere.example@${known}`],
    ["a percent route through a known domain to an unknown one", (known) => `victim%${known}@elsewhere.example`],
    ["a source route through a known domain", (known) => `@${known}:victim@elsewhere.example`],
    ["two at signs", (known) => `victim@elsewhere.example@${known}`],
    ["a quoted known address at another domain", (known) => `"someone@${known}"@elsewhere.example`],
    ["quoted brackets", (known) => `"a> <victim"@${known}`],
    ["a quoted tab", (known) => `"a\tvictim"@${known}`],
    ["a quoted percent route", (known) => `"a victim%elsewhere.example"@${known}`],
    ["unterminated quotes", (known) => `"a victim@${known}`],
    ["two words without quotes", (known) => `a victim@${known}`],
    ["an address literal", () => "victim@[127.0.0.1]"],
    ["a subdomain of a known domain", (known) => `victim@mail.${known}`],
    ["the parent of a known domain", (known) => `victim@${known.slice(known.indexOf(".") + 1)}`],
    ["a known domain as a prefix", (known) => `victim@${known}.elsewhere.example`],
    ["a known domain before a fragment", (known) => `victim@${known}#elsewhere.example`],
    ["a known domain before a NUL", (known) => `victim@${known}\u0000.elsewhere.example`],
    ["a known domain before a space", (known) => `victim@${known} elsewhere.example`],
    ["an A-label without a U-label", (known) => `victim@${known.replace(/test$/, "xn--test-")}`],
    ["an A-label of ASCII letters", (known) => `victim@xn--${known.replace(".", "-.")}`],
    ["a look-alike letter", (known) => `victim@${known.replace("inlet", "іnlet")}`],
    ["full-width letters", (known) => `victim@${known.replace("inlet", "ｉｎｌｅｔ")}`],
    ["a soft hyphen", (known) => `victim@${known.replace("inlet", "in\u00adlet")}`],
    ["a zero-width space", (known) => `victim@${known.replace("inlet", "in\u200blet")}`],
    ["no domain", () => "victim@"],
    ["no local part", (known) => `@${known}`],
    ["nothing", () => ""]
  ] as const satisfies ReadonlyArray<readonly [string, (known: string) => string]>)("refuses %s", ([, address]) =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      assert.match((yield* replies(address(inbox.domain)))[0] ?? "", /^5\d\d /)
    })
  )

  it.effect("refuses 15 percent routes of thousands of dots within 2 s", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const routes = Array.from({ length: 15 }, (_, index) => `a${index}%${".".repeat(15_000)}%@${inbox.domain}`)
      const refused = Effect.map(replies(...routes), (refusals) => assert.lengthOf(refusals, 15))
      assert.isBelow(yield* quickest(refused), 2_000)
    })
  )

  it.effect("ignores a source route to a known domain (RFC 5321, appendix C)", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const routed = `@relay.example,@other.example:${inbox.address}`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, routed, "Subject: routed\r\n\r\n"), /^250 /)
      assert.deepStrictEqual(
        (yield* Mailbox.accepted(inbox)).map(({ recipient }) => recipient),
        [inbox.address]
      )
    })
  )

  it.effect("accepts 100 recipients, answers 452 4.5.3 to the next, and stores the message for the 100", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      const numbers = Array.from({ length: 103 }, (_, number) => number)
      yield* dialog.write(numbers.map((number) => `RCPT TO:<n${number}@${inbox.domain}>\r\n`).join(""))
      const answers = yield* Effect.forEach(numbers, () => dialog.reply)
      assert.isTrue(answers.slice(0, 100).every((reply) => reply.startsWith("250 ")))
      assert.isTrue(answers.slice(100).every((reply) => reply.startsWith("452 4.5.3 ")))
      // One of the hundred may be repeated.
      assert.match(yield* dialog.say(`RCPT TO:<n7@${inbox.domain}>`), /^250 /)

      assert.match(yield* Mailbox.data(dialog, "Subject: to a hundred\r\n\r\n"), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.strictEqual(new Set(events.map(({ recipient }) => recipient)).size, 100)
      assert.strictEqual(new Set(events.map((event) => event.inbound_email_id)).size, 1)
    })
  )

  it.effect("accepts mail from the null sender", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address, { from: "" })
      assert.match(dialog.mail, /^250 /)
      assert.match(yield* Mailbox.data(dialog, "From: Mailer <mailer@sender.example>\r\n\r\nbounced\r\n"), /^250 /)
      yield* dialog.say("MAIL FROM:<>")
      yield* dialog.say(`RCPT TO:<${inbox.address}>`)
      assert.match(yield* Mailbox.data(dialog, "Subject: from nobody at all\r\n\r\n"), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        // Concurrent mails may be parsed in another order.
        events.map(({ envelope, from }) => [envelope.from, from]).toSorted(),
        [
          ["", ""],
          ["", "mailer@sender.example"]
        ]
      )
    })
  )

  it.effect("answers each address of a session separately", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const first = yield* inlet.inbox()
      const second = yield* inlet.inbox()
      const codes = yield* replies(first.address, "someone@unknown.example", second.address)
      assert.deepStrictEqual(
        codes.map((reply) => reply.slice(0, 3)),
        ["250", "550", "250"]
      )
    })
  )

  it.effect("stores nothing for a domain disabled between RCPT and DATA", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* operator("disable", inbox.domain)
      assert.match(yield* Mailbox.data(dialog, "Subject: late\r\n\r\n"), /^550 5\.1\.2 /)
      yield* operator("enable", inbox.domain)
      assert.deepStrictEqual(yield* Mailbox.accepted(inbox), [])
      assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [])
    })
  )

  it.effect("stores nothing for a domain removed between RCPT and DATA, nor for the new holder of its name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const old = yield* attach("moved.example", "live")
      const dialog = yield* Mailbox.begin(inlet.smtpPort, "someone@moved.example")
      yield* inlet.call("DELETE", `/api/domains/${old.domainId}`, { key: old.key })
      const present = yield* attach("moved.example", "live")
      assert.match(yield* Mailbox.data(dialog, "Subject: for the old holder\r\n\r\n"), /^550 5\.1\.2 /)
      assert.deepStrictEqual(yield* Mailbox.accepted(present), [])
      assert.deepStrictEqual(yield* Mailbox.stored(old.domainId), [])
      assert.deepStrictEqual(yield* Mailbox.stored(present.domainId), [])
    })
  )

  it.effect("answers with a temporary error if one of several domains is removed between RCPT and DATA", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const staying = yield* inlet.inbox()
      const leaving = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, [staying.address, leaving.address])
      yield* operator("disable", leaving.domain)
      assert.match(yield* Mailbox.data(dialog, "Subject: for both\r\n\r\n"), /^451 /)
      assert.deepStrictEqual(yield* Mailbox.accepted(staying), [])
      assert.deepStrictEqual(yield* Mailbox.stored(staying.domainId), [])
      assert.deepStrictEqual(yield* Mailbox.stored(leaving.domainId), [])
    })
  )
})
