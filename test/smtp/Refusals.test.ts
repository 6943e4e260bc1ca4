import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as RefusalNotes from "../../src/refusals/RefusalNotes.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

type Listed = Answer["json"]

/** The refusals of a domain, once there are as many. */
const refusals = Effect.fnUntraced(function* ({ domainId, key }: Mailbox.Inbox, count = 1, query = "") {
  const inlet = yield* TestInlet
  const { json } = yield* eventually(
    inlet.call("GET", `/api/domains/${domainId}/refusals${query}`, { key }),
    ({ json }) => json.refusals.length >= count
  )
  return json.refusals as ReadonlyArray<Listed>
})

/** The operator's ledger, once it has this. */
const operatorHas = Effect.fnUntraced(function* (isIt: (refusal: Listed) => boolean, query = "") {
  const inlet = yield* TestInlet
  const { json } = yield* eventually(
    inlet.call("GET", `/admin/refusals?limit=100${query}`, { key: "operator" }),
    ({ json }) => json.refusals.some(isIt)
  )
  return (json.refusals as ReadonlyArray<Listed>).filter(isIt)
})

/** The replies to RCPT with this reason. */
const counted = (reason: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const found = all.find(
      ({ attributes, id }) =>
        id === "inlet_smtp_replies_total" && attributes?.command === "RCPT" && attributes.reason === reason
    )
    return found?.type === "Counter" ? Number(found.state.count) : 0
  })

/** A domain of a new workspace that is not verified. */
const unverified = Effect.fnUntraced(function* (domain: string) {
  const inlet = yield* TestInlet
  const { id: workspaceId, key } = yield* inlet.workspace
  const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain } })
  return { key, domainId: json.id as string, workspaceId }
})

const verify = (domainId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE domains SET status = 'live', verified_at = now() WHERE id = ${domainId}`
  )

const message = (id: string) =>
  `Message-ID: <${id}@sender.example>\r\nSubject: =?utf-8?q?Caf=C3=A9?= ${id}\r\n\r\nText\r\n`

/** Written at once, where the service waits a second for more. */
const quick = Layer.succeed(RefusalNotes.Bounds, { limits: {}, idleMillis: 10, afterFailureMillis: 10 })

const settings = { ADMIN_TOKEN: "operator", MAX_MESSAGE_BYTES: "65536", SENDER_CHECKS: "false" }

layer(TestInlet.layer(settings).pipe(Layer.provide(quick)), {
  excludeTestServices: true
})("A refusal", (it) => {
  it.effect("at RCPT over the day's quota names sender, recipient, client, HELO, reply, reason and remedy", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      const [refusal] = yield* refusals(inbox)
      assert.deepInclude(refusal, {
        domain_id: inbox.domainId,
        domain: inbox.domain,
        reason: "quota",
        code: 452,
        reply: replies[0],
        count: 1,
        client_address: "127.0.0.1",
        helo: "client.example",
        from: "sender@sender.example",
        recipient: inbox.address,
        subject: null,
        message_id: null
      })
      assert.match(refusal.remedy, /^The workspace reached its messages/)
    })
  )

  it.effect("after DATA over the quota has the subject, the Message-ID and the size", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      assert.match(yield* Mailbox.data(dialog, message("over")), /^452 /)
      const [refusal] = yield* refusals(inbox)
      assert.deepInclude(refusal, {
        reason: "quota",
        subject: "Café over",
        message_id: "<over@sender.example>",
        bytes: message("over").length
      })
    })
  )

  it.effect("for the full workspace of several is `quota`, and `other_recipient` for the others", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const [full, other] = [yield* inlet.inbox(), yield* inlet.inbox()]
      const dialog = yield* Mailbox.begin(inlet.smtpPort, [full.address, other.address])
      yield* Mailbox.acceptToday(full.domainId, 100)
      assert.match(yield* Mailbox.data(dialog, message("both")), /^452 /)
      assert.deepInclude((yield* refusals(full))[0], { reason: "quota", recipient: full.address })
      assert.deepInclude((yield* refusals(other))[0], { reason: "other_recipient", recipient: other.address })
    })
  )

  it.effect("of a message too large by its bytes has the subject and the recipients", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const large = `${message("large")}${"x".repeat(76)}\r\n`.repeat(1) + `${"x".repeat(76)}\r\n`.repeat(1_000)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, large), /^552 5\.3\.4 /)
      const [refusal] = yield* refusals(inbox)
      assert.deepInclude(refusal, { reason: "too_large", code: 552, subject: "Café large", recipient: inbox.address })
      assert.isAbove(refusal.bytes, 65_536)
      assert.match(refusal.reply, /^552 5\.3\.4 Error: message exceeds fixed maximum message size 65536$/)
    })
  )

  it.effect("far over the size limit ends the session, and is in the ledger with its recipient", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* dialog.say("DATA")
      yield* dialog.write(`${message("endless")}${`${"x".repeat(998)}\r\n`.repeat(2_300)}`)
      assert.match(yield* dialog.reply, /^421 /)
      const [refusal] = yield* refusals(inbox)
      assert.deepInclude(refusal, { reason: "too_large", code: 421, subject: "Café endless", recipient: inbox.address })
    })
  )

  it.effect("by SIZE= belongs to the operator, with its client", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { mail } = yield* Mailbox.begin(inlet.smtpPort, [], { parameters: " SIZE=70000" })
      assert.match(mail, /^552 5\.3\.4 /)
      const [refusal] = yield* operatorHas(({ reason }) => reason === "too_large")
      assert.deepInclude(refusal, { domain: null, client: "127.0.0.1", code: 552, helo: "client.example" })
      const listed = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/refusals`, { key: inbox.key })
      assert.deepStrictEqual(listed.json.refusals, [])
    })
  )

  it.effect("by SIZE= of a client that pipelines RCPT names the recipient", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, inbox.address, { parameters: " SIZE=70000" })
      assert.match(replies[0] ?? "", /^503 /)
      const [refusal] = yield* refusals(inbox)
      assert.deepInclude(refusal, {
        reason: "too_large",
        code: 552,
        from: "sender@sender.example",
        recipient: inbox.address,
        bytes: 70_000
      })
    })
  )

  it.effect("of mail in a loop is `loop`", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const loop = "Received: from a.example by b.example\r\n".repeat(60)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `${loop}${message("loop")}`), /^554 /)
      assert.deepInclude((yield* refusals(inbox))[0], { reason: "loop", subject: "Café loop" })
    })
  )

  it.effect("of a relaying address is `relay`", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const relay = `victim%elsewhere.example@${inbox.domain}`
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, relay)
      assert.match(replies[0] ?? "", /^550 /)
      assert.deepInclude((yield* refusals(inbox))[0], { reason: "relay", recipient: relay })
    })
  )

  it.effect("beyond the recipients of a message is `recipients`", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const many = Array.from({ length: 101 }, (_, number) => `to-${number}@${inbox.domain}`)
      const { replies } = yield* Mailbox.begin(inlet.smtpPort, many)
      assert.match(replies.at(-1) ?? "", /^452 4\.5\.3 /)
      assert.deepInclude((yield* refusals(inbox))[0], { reason: "recipients", recipient: many.at(-1) })
    })
  )

  it.effect("of a domain that is not verified hides the local parts from its workspace until it is", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const domain = yield* unverified("pending.example.com")
      yield* Mailbox.begin(inlet.smtpPort, "someone@pending.example.com")
      const [refusal] = yield* refusals(domain)
      assert.deepInclude(refusal, {
        reason: "not_verified",
        from: "…@sender.example",
        recipient: "…@pending.example.com"
      })
      // A person who knows both addresses finds it.
      const query = "?from=Sender@sender.example&recipient=SOMEONE@pending.example.com"
      assert.lengthOf(yield* refusals(domain, 1, query), 1)
      yield* verify(domain.domainId)
      const [shown] = yield* refusals(domain)
      assert.deepInclude(shown, { from: "sender@sender.example", recipient: "someone@pending.example.com" })
    })
  )

  it.effect("of a disabled domain is `disabled`", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("POST", `/admin/domains/${inbox.domain}/disable`, { key: "operator" })
      const before = yield* counted("disabled")
      yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.deepInclude((yield* refusals(inbox))[0], { reason: "disabled", from: "sender@sender.example" })
      assert.strictEqual(yield* counted("disabled"), before + 1)
    })
  )

  it.effect("of a name held by another workspace shows its waiting workspace no details", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const waiting = yield* unverified("held.example.com")
      const holder = yield* unverified("held.example.com")
      yield* verify(holder.domainId)
      yield* inlet.call("POST", "/admin/domains/held.example.com/disable", { key: "operator" })
      yield* Mailbox.begin(inlet.smtpPort, "secret@held.example.com")
      assert.deepInclude((yield* refusals(holder))[0], { reason: "disabled", recipient: "secret@held.example.com" })
      const [seen] = yield* refusals(waiting)
      assert.deepInclude(seen, {
        reason: "held_elsewhere",
        count: 1,
        from: null,
        recipient: null,
        client_address: null,
        helo: null
      })
    })
  )

  it.effect("over the quota of a name's holder is not shown to a workspace that waits for the name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const waiting = yield* unverified("full.example.com")
      const holder = yield* unverified("full.example.com")
      yield* verify(holder.domainId)
      yield* Mailbox.acceptToday(holder.domainId, 100)
      yield* Mailbox.begin(inlet.smtpPort, "secret@full.example.com")
      assert.deepInclude((yield* refusals(holder))[0], { reason: "quota" })
      const { json } = yield* inlet.call("GET", `/api/domains/${waiting.domainId}/refusals`, { key: waiting.key })
      assert.deepStrictEqual(json, { refusals: [], next_cursor: null })
    })
  )

  it.effect("of an unknown name belongs to the operator, with the client that asked", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      yield* Mailbox.begin(inlet.smtpPort, ["a@nobody.example.com", "b@nobody.example.com"])
      const [refusal] = yield* operatorHas(({ count }) => count === 2, "&domain=nobody.example.com")
      assert.deepInclude(refusal, { domain: "nobody.example.com", client: "127.0.0.1", reason: "unknown", code: 550 })
    })
  )

  it.effect("before RCPT belongs to the operator: bad commands and failed TLS", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say("NONSENSE"), /^500 /)
      assert.match(yield* dialog.say("STARTTLS"), /^220 /)
      yield* dialog.write("this is no ClientHello\r\n".repeat(20))
      yield* operatorHas(({ reason, code }) => reason === "protocol" && code === 500)
      const [tls] = yield* operatorHas(({ reason }) => reason === "tls")
      assert.deepInclude(tls, { client: "127.0.0.1", domain: null, code: null })
    })
  )

  it.effect("of a faulty command is no refusal of the recipients that are accepted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      yield* dialog.say("MAIL FROM:<a@sender.example>")
      assert.match(yield* dialog.say(`RCPT TO:<${inbox.address}>`), /^250 /)
      assert.match(yield* dialog.say("GIBBERISH"), /^500 /)
      yield* dialog.say("DATA")
      assert.match(yield* dialog.say("Subject: fine\r\n\r\nHello\r\n."), /^250 /)
      yield* operatorHas(({ reason, code }) => reason === "protocol" && code === 500)
      // The ledger is written in order.
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.deepStrictEqual(
        (yield* refusals(inbox)).map(({ code }) => code),
        [452]
      )
    })
  )

  it.effect("merges with equal ones of the hour, and counts in the daily figures of the domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      yield* Mailbox.begin(inlet.smtpPort, [inbox.address, inbox.address])
      yield* refusals(inbox)
      yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* Mailbox.begin(inlet.smtpPort, `other@${inbox.domain}`)
      const all = yield* refusals(inbox, 2)
      // Over the turn of an hour there are more rows.
      assert.strictEqual(
        all.reduce((sum, { count }) => sum + count, 0),
        4
      )
      assert.isBelow(all.length, 4)
      const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/stats?days=2`, { key: inbox.key })
      const refused = json.days.flatMap((day: Listed) => day.refused)
      assert.deepStrictEqual(refused, [{ reason: "quota", count: 4 }])
    })
  )

  it.effect("is listed by page, reason, addresses without case, and time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      yield* Mailbox.begin(
        inlet.smtpPort,
        [1, 2, 3].map((number) => `to-${number}@${inbox.domain}`)
      )
      yield* refusals(inbox, 3)
      const page = (query: string) =>
        Effect.map(
          inlet.call("GET", `/api/domains/${inbox.domainId}/refusals?${query}`, { key: inbox.key }),
          (answer) => answer
        )
      const first = (yield* page("limit=2")).json
      assert.lengthOf(first.refusals, 2)
      const second = (yield* page(`limit=2&cursor=${first.next_cursor}`)).json
      assert.lengthOf(second.refusals, 1)
      assert.isNull(second.next_cursor)
      const count = (query: string) => Effect.map(page(query), ({ json }) => json.refusals.length)
      assert.strictEqual(yield* count("reason=quota"), 3)
      assert.strictEqual(yield* count("reason=loop"), 0)
      assert.strictEqual(yield* count(`recipient=TO-2@${inbox.domain}`), 1)
      assert.strictEqual(yield* count("from=SENDER@sender.example"), 3)
      assert.strictEqual(yield* count("until=2020-01-01T00:00:00Z"), 0)
      assert.strictEqual(yield* count("since=2020-01-01T00:00:00Z"), 3)
      assert.strictEqual(yield* count("since=2100-01-01T00:00:00Z"), 0)
      for (const wrong of ["reason=nothing", "since=yesterday", "cursor=x", `cursor=${inbox.domainId}`, "limit=0"]) {
        const { json, status } = yield* page(wrong)
        assert.strictEqual(status, 400, wrong)
        assert.match(json.error, /: Expected /)
      }
    })
  )

  it.effect("is removed with its domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 100)
      yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* refusals(inbox)
      yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
      assert.lengthOf(yield* sql`SELECT 1 FROM refusals WHERE domain_id = ${inbox.domainId}`, 0)
      assert.lengthOf(yield* sql`SELECT 1 FROM domain_day_refusals WHERE domain_id = ${inbox.domainId}`, 0)
    })
  )

  it.effect("of a demo inbox is in no ledger", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { json } = yield* inlet.call("POST", "/api/demo/inbox")
      const address = String(json.address)
      const loop = "Received: from a.example by b.example\r\n".repeat(60)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, `${loop}${message("demo")}`), /^554 /)
      yield* sql`UPDATE demo_sessions SET expires_at = now()`
      yield* Mailbox.begin(inlet.smtpPort, [address, "after@demo.example.com"])
      yield* operatorHas(({ domain }) => domain === "after@demo.example.com".split("@")[1])
      const name = address.split("@")[1]
      assert.lengthOf(yield* sql`SELECT 1 FROM unknown_refusals WHERE name = ${name}`, 0)
      assert.lengthOf(yield* sql`SELECT 1 FROM refusals JOIN domains ON domains.id = domain_id WHERE name = ${name}`, 0)
    })
  )
})

layer(TestInlet.layer({ ADMIN_TOKEN: "operator", SMTP_MAX_CONNECTIONS_PER_IP: "1" }), {
  excludeTestServices: true
})("A refused connection", (it) => {
  it.effect("is in the operator's ledger as `rate`", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      yield* SmtpDialog.open(inlet.smtpPort)
      yield* Effect.acquireRelease(
        Effect.sync(() => connect(inlet.smtpPort, "127.0.0.1").on("error", () => {})),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const [refusal] = yield* operatorHas(({ reason }) => reason === "rate")
      assert.deepInclude(refusal, { code: 421, client: "127.0.0.1", domain: null })
    })
  )
})
