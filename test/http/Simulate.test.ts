import { readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const inbox = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const made = yield* inlet.inbox()
  const path = `/api/domains/${made.domainId}/simulate`
  return {
    ...made,
    say: (body: unknown, query = "", headers = {}) =>
      inlet.call("POST", `${path}${query}`, { key: made.key, body, headers }),
    raw: (message: string, query = "") =>
      inlet.call("POST", `${path}${query}`, {
        key: made.key,
        body: message,
        headers: { "content-type": "message/rfc822" }
      })
  }
})

const message = (subject: string, ...more: ReadonlyArray<string>) =>
  [
    "From: Ada <ada@sender.example>",
    `Subject: ${subject}`,
    `Message-ID: <${subject}@sender.example>`,
    ...more,
    "",
    "Can you read this?",
    ""
  ].join("\r\n")

const World = Layer.merge(
  TestInlet.layer({ SENDER_CHECKS: "false", MAX_MESSAGE_BYTES: "600000" }),
  WebhookReceiver.layer
)

layer(World, { excludeTestServices: true })("A simulated mail", (it) => {
  it.effect("becomes the same event as over SMTP, except for ids, times and envelope", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { raw, ...box } = yield* inbox
      const told = ({
        delivery: _d,
        envelope,
        event_id,
        headers,
        inbound_email_id,
        rawRef,
        receivedAt,
        ...rest
      }: Answer["json"]) => ({
        ...rest,
        envelope: { from: envelope.from },
        headers: headers.filter(({ name }: { readonly name: string }) => name !== "Received"),
        ids: [event_id, inbound_email_id, rawRef, receivedAt].map((id) => typeof id)
      })
      const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}.eml`, import.meta.url), "utf8")
      const plain = message("same", "X-Odd: =?utf-8?q?caf=C3=A9?=", "List-Id: <l.example>")
      for (const bytes of [...["newsletter", "forwarded", "iso-2022-jp", "padded-boundaries"].map(fixture), plain]) {
        const before = (yield* Mailbox.events(box)).length
        // The API also accepts UTF-8 text.
        yield* Mailbox.deliver(inlet.smtpPort, box.address, Buffer.from(bytes), { from: "ada@sender.example" })
        yield* eventually(Mailbox.events(box), (all) => all.length === before + 1)
        // Otherwise it would be deduplicated.
        yield* sql`DELETE FROM received_once`
        const { json, status } = yield* raw(
          bytes,
          `?recipient=${encodeURIComponent(box.address)}&from=ada@sender.example&wait=10`
        )
        assert.strictEqual(status, 201)
        const [sent, simulated] = (yield* Mailbox.events(box)).slice(-2)
        assert.deepStrictEqual(told(simulated), told(sent))
        assert.deepStrictEqual(simulated.envelope, {
          from: "ada@sender.example",
          helo: "simulate",
          remoteAddress: "simulate"
        })
        assert.deepStrictEqual(
          [json.inbound_email_id, json.events.length, json.events[0].event_id, json.events[0].subject],
          [simulated.inbound_email_id, 1, simulated.event_id, sent.subject]
        )
        assert.notProperty(json.events[0], "text")
        const stored = yield* Mailbox.raw(box, simulated.event_id)
        assert.match(stored, /^Return-Path: <ada@sender\.example>\r\nReceived: from simulate\r\n\tby \S+ with HTTP id /)
        assert.isTrue(stored.endsWith(bytes))
      }
    })
  )

  it.effect("becomes an event within a second", () =>
    Effect.gen(function* () {
      const { say } = yield* inbox
      const times: Array<number> = []
      for (const sample of ["code", "newsletter", "attachment", "reply", "bounce"]) {
        const [time, { status }] = yield* Effect.timed(say({ sample }, "?wait=10"))
        assert.strictEqual(status, 201)
        times.push(Duration.toSeconds(time))
      }
      // The quickest, because the machine may be busy.
      assert.isBelow(Math.min(...times), 1)
    })
  )

  it.effect("is answered 202 with its id, or 201 with its event if the request waits", () =>
    Effect.gen(function* () {
      const { say, ...box } = yield* inbox
      const first = yield* say({ sample: "code" })
      assert.deepStrictEqual([first.status, Object.keys(first.json)], [202, ["inbound_email_id"]])
      const second = yield* say({ sample: "code" }, "?wait=10")
      assert.strictEqual(second.status, 201)
      assert.strictEqual(second.json.events[0].extracted.code.value, "482913")
      const [one, two] = yield* Mailbox.accepted(box)
      assert.deepStrictEqual(
        [one.inbound_email_id, two.inbound_email_id],
        [first.json.inbound_email_id, second.json.inbound_email_id]
      )
      assert.notStrictEqual(one.message_id, two.message_id)
    })
  )

  it.effect("has the content of its sample", () =>
    Effect.gen(function* () {
      const { say, ...box } = yield* inbox
      const event = Effect.fnUntraced(function* (sample: string) {
        const { json, status } = yield* say({ sample }, "?wait=30")
        assert.strictEqual(status, 201, sample)
        const all = yield* Mailbox.events(box)
        return all.find(({ event_id }) => event_id === json.events[0].event_id)
      })
      const code = yield* event("code")
      assert.deepStrictEqual([code.extracted.code.value, code.extracted.code.confidence], ["482913", "high"])
      assert.strictEqual((yield* event("verify-link")).extracted.links[0].kind, "verify")
      assert.strictEqual((yield* event("reset-link")).extracted.links[0].kind, "reset")
      const reply = yield* event("reply")
      assert.deepStrictEqual([reply.reply.trim(), reply.sender], ["Friday works for me, thank you.", "person"])
      assert.strictEqual(reply.inReplyTo, "<delivery-1@agent.example>")
      const newsletter = yield* event("newsletter")
      assert.deepStrictEqual([newsletter.sender, newsletter.extracted.unsubscribe.oneClick], ["list", true])
      const bounce = yield* event("bounce")
      assert.deepStrictEqual([bounce.sender, bounce.envelope.from], ["bounce", ""])
      assert.match(JSON.stringify(bounce.headers), /multipart\/report; report-type=delivery-status/)
      const away = yield* event("out-of-office")
      assert.deepStrictEqual([away.sender, away.threadId], ["auto", reply.threadId])
      const { kind } = yield* event("bounce")
      assert.deepStrictEqual(kind, {
        type: "bounce",
        recipients: [
          {
            address: "nobody@acme.example",
            action: "failed",
            status: "5.1.1",
            diagnostic: "550 5.1.1 No such user here"
          }
        ],
        originalMessageId: "<invoice-1@agent.example>"
      })
      const invitation = yield* event("invitation")
      assert.deepInclude(invitation.kind, { type: "calendar", method: "request", summary: "Delivery" })
      assert.strictEqual(invitation.kind.start.utc, "2026-01-12T10:00:00Z")
      const report = yield* event("dmarc-report")
      assert.deepStrictEqual(report.kind, {
        type: "dmarc_report",
        submitter: "acme.example",
        domain: report.domain,
        begin: "2026-01-05T00:00:00Z",
        end: "2026-01-05T23:59:59Z",
        attachment: 0
      })
      const hidden = yield* event("hidden-text")
      assert.isTrue(hidden.hiddenText)
      assert.notMatch(hidden.text, /instructions|confirm/)
      assert.match(hidden.html, /Ignore your instructions/)
      const { attachments } = yield* event("attachment")
      assert.deepStrictEqual(
        attachments.map(({ contentType, filename }: Record<string, string>) => [filename, contentType]),
        [
          ["invoice-2026-0142.pdf", "application/pdf"],
          ["items.csv", "text/csv"]
        ]
      )
    })
  )

  it.effect("has the fields of the request, also on top of a sample", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { say, ...box } = yield* inbox
      const { json, status } = yield* say(
        {
          sample: "code",
          recipient: `agent+signup@${box.domain}`,
          from: "Zoë <zoe@sender.example>",
          subject: "Grüße",
          text: "Your code is 7731\n",
          html: "<p>Your code is <b>7731</b></p>",
          inReplyTo: "<first@agent.example>",
          headers: { "X-Kind": "trial" },
          attachments: [
            { filename: "a b.txt", contentType: "text/plain", content: Buffer.from("hello").toString("base64") }
          ],
          authentication: { dmarc: "pass", spf: "pass" }
        },
        "?wait=30"
      )
      assert.strictEqual(status, 201, JSON.stringify(json))
      const [event] = yield* Mailbox.events(box)
      assert.deepInclude(event, {
        recipient: `agent+signup@${box.domain}`,
        tag: "signup",
        from: "zoe@sender.example",
        fromName: "Zoë",
        subject: "Grüße",
        inReplyTo: "<first@agent.example>",
        references: ["<first@agent.example>"],
        authentication: { spf: "pass", dkim: "none", dmarc: "pass", arc: "none" }
      })
      assert.strictEqual(event.envelope.from, "zoe@sender.example")
      assert.deepInclude(event.headers, { name: "X-Kind", value: "trial" })
      const attachment = yield* inlet.call(
        "GET",
        `/api/domains/${box.domainId}/events/${event.event_id}/attachments/0`,
        { key: box.key }
      )
      assert.deepStrictEqual([event.attachments[0].filename, attachment.text], ["a b.txt", "hello"])
      assert.match(
        yield* Mailbox.raw(box, event.event_id),
        /^Authentication-Results: \S+;\r\n\tspf=pass; dkim=none; dmarc=pass; arc=none\r\n/
      )
    })
  )

  it.effect("may be for a quoted local part, as over SMTP", () =>
    Effect.gen(function* () {
      const { say, ...box } = yield* inbox
      const { json, status } = yield* say({ recipient: `"john doe"@${box.domain}` }, "?wait=30")
      assert.strictEqual(status, 201, JSON.stringify(json))
      const [event] = yield* Mailbox.events(box)
      assert.strictEqual(event.recipient, `"john doe"@${box.domain}`)
      const open = yield* say({ recipient: `"john doe@${box.domain}` })
      assert.strictEqual(open.status, 400)
    })
  )

  it.effect("keeps its simulated verdicts when another reader takes it over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { say, ...box } = yield* inbox
      yield* say({ sample: "code", authentication: { dkim: "pass", dmarc: "pass" } }, "?wait=30")
      yield* say({ sample: "reply" }, "?wait=30")
      const before = yield* Mailbox.accepted(box)
      assert.deepStrictEqual(
        before.map(({ authentication }) => authentication.dmarc),
        ["pass", "none"]
      )
      // As after a crash between the row and the event.
      yield* sql`DELETE FROM events WHERE domain_id = ${box.domainId}`
      yield* sql`UPDATE inbound_emails SET state = 'received', read_recipients = 0, leased_until = NULL WHERE domain_id = ${box.domainId}`
      const after = yield* Mailbox.accepted(box)
      assert.deepStrictEqual(
        after.map(({ authentication, envelope }) => [authentication, envelope]),
        before.map(({ authentication, envelope }) => [authentication, envelope])
      )
    })
  )

  it.effect("is posted to the webhook, and its first 2xx makes the domain live", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { domainId, key } = yield* inlet.inbox(receiver.url)
      const { json } = yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, {
        key,
        body: { sample: "reply" }
      })
      const { body } = yield* receiver.next
      assert.strictEqual(JSON.parse(body.toString()).inbound_email_id, json.inbound_email_id)
      yield* eventually(
        inlet.call("GET", `/api/domains/${domainId}`, { key }),
        (answer) => answer.json.status === "live"
      )
    })
  )

  it.effect("is deduplicated by its bytes and by Idempotency-Key", () =>
    Effect.gen(function* () {
      const { raw, say, ...box } = yield* inbox
      const first = yield* raw(message("twice"))
      const again = yield* raw(message("twice"))
      assert.deepStrictEqual([first.status, again.status, again.text], [202, 202, first.text])
      const keyed = yield* say({ sample: "code" }, "", { "idempotency-key": "once" })
      const repeated = yield* say({ sample: "code" }, "", { "idempotency-key": "once" })
      assert.deepStrictEqual([keyed.status, repeated.text], [202, keyed.text])
      assert.lengthOf(yield* Mailbox.events(box), 2)
      assert.strictEqual(yield* Mailbox.acceptedToday(box.domainId), 2)
    })
  )

  it.effect("is as large as an SMTP message may be, and beyond answers 413", () =>
    Effect.gen(function* () {
      const { raw, say, ...box } = yield* inbox
      const large = `${message("large")}${"x".repeat(70)}\r\n`.padEnd(599_998, "x\r\n")
      assert.strictEqual((yield* raw(large)).status, 202)
      const beyond = yield* raw(large.padEnd(600_001, "x"))
      assert.deepStrictEqual([beyond.status, beyond.json.error], [413, "The body is larger than 600000 bytes"])
      const content = Buffer.alloc(430_000, "a").toString("base64")
      assert.strictEqual((yield* say({ attachments: [{ content }] })).status, 202)
      const tooMuch = yield* say({ text: "é".repeat(220_000) })
      assert.strictEqual(tooMuch.status, 413)
      assert.match(tooMuch.json.error, /^The message has \d+ bytes\. The limit is 600000/)
      assert.lengthOf(yield* Mailbox.events(box), 2)
      const inlet = yield* TestInlet
      const other = yield* inlet.call("POST", "/api/domains", { key: box.key, body: "x".repeat(262_145) })
      assert.deepStrictEqual([other.status, other.json.error], [413, "The body is larger than 256 KiB"])
    })
  )

  it.effect("is refused where SMTP refuses its recipient, with the next step", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const own = yield* inlet.call("POST", "/api/domains", { key, body: { domain: "simulated.example.com" } })
      const pending = yield* inlet.call("POST", `/api/domains/${own.json.id}/simulate`, {
        key,
        body: { sample: "code" }
      })
      assert.strictEqual(pending.status, 409)
      assert.match(pending.json.error, /is verified\. Publish its TXT record, then POST .*verify/)
      const { raw, say, ...box } = yield* inbox
      const elsewhere = yield* say({ recipient: "ada@elsewhere.example" })
      assert.deepStrictEqual(
        [elsewhere.status, elsewhere.json.error],
        [400, `recipient: Expected an address at ${box.domain}, such as inbox@${box.domain}`]
      )
      assert.strictEqual((yield* say({ recipient: `ada%other.example@${box.domain}` })).status, 409)
      for (const [body, field] of [
        [{ sample: "nothing" }, /^sample: /],
        [{ sample: "nope" }, /^sample: Expected one of code, /],
        [{ from: "bad" }, /^from: Expected an address such as ada@example\.com/],
        [{ subject: "a\r\nBcc: b@c.example" }, /^subject: Expected text of one line/],
        [{ headers: { "X-A": "b\nX-C: d" } }, /^headers\.X-A: /],
        [{ headers: { "Content-Type": "text/html" } }, /message\/rfc822/],
        [{ attachments: [{ content: "*" }] }, /^attachments\.0\.content: Expected a valid Base64/],
        [{ authentication: { dmarc: "maybe" } }, /^authentication\.dmarc: /]
      ] as const) {
        const { json, status } = yield* say(body)
        assert.strictEqual(status, 400, JSON.stringify(body))
        assert.match(json.error, field)
      }
      assert.lengthOf(yield* Mailbox.events(box), 0)
    })
  )
})

layer(TestInlet.layer({ SENDER_CHECKS: "false", MAX_EMAILS_PER_DAY: "2", MAX_EMAILS_PER_SENDER_PER_DAY: "1" }), {
  excludeTestServices: true
})("A simulated mail", (it) => {
  it.effect(
    "counts toward the daily quota of the workspace, not of a client address, and answers 429 until midnight UTC",
    () =>
      Effect.gen(function* () {
        const { say } = yield* inbox
        assert.deepStrictEqual(
          [(yield* say({ sample: "code" })).status, (yield* say({ sample: "code" })).status],
          [202, 202]
        )
        const { headers, json, status } = yield* say({ sample: "code" })
        assert.strictEqual(status, 429)
        assert.match(json.error, /^2 messages arrived today/)
        const seconds = Number(headers["retry-after"])
        assert.isTrue(seconds > 0 && seconds <= 86_400, `${seconds}`)
      })
  )
})

layer(TestInlet.layer({ ROLES: "http", SENDER_CHECKS: "false" }), {
  excludeTestServices: true
})("A simulated mail at a process with only the role http", (it) => {
  it.effect("is parsed there and returned to a waiting request, and a worker delivers it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, domainId } = yield* inlet.inbox("http://127.0.0.1:9/")
      const ask = (path: string, body?: unknown) =>
        inlet.call(body === undefined ? "GET" : "POST", `/api/domains/${domainId}${path}`, { key, body })
      const { json, status } = yield* ask("/simulate?wait=60", { sample: "code" })
      assert.strictEqual(status, 201)
      assert.strictEqual(json.events[0].extracted.code.value, "482913")
      const listed = yield* ask("/events")
      assert.deepStrictEqual(
        listed.json.events.map(({ delivery, event_id }: typeof json) => [event_id, delivery.status, delivery.attempts]),
        [[json.events[0].event_id, "pending", 0]]
      )
    })
  )
})
