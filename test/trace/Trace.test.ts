import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { Inlet } from "../../src/client.ts"
import * as RefusalNotes from "../../src/refusals/RefusalNotes.ts"
import type { Answer } from "../ApiCall.ts"
import * as CommandLine from "../CommandLine.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as ManyDomains from "../ManyDomains.ts"
import * as McpClient from "../mcp/McpClient.ts"
import * as OpenWaits from "../OpenWaits.ts"
import * as PassOn from "../PassOn.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

type Entry = Answer["json"]

interface Inbox extends Mailbox.Inbox {
  readonly address: string
}

const search = Effect.fnUntraced(function* (key: string, query: Readonly<Record<string, string>>, path = "/api/trace") {
  const inlet = yield* TestInlet
  const { json, status } = yield* inlet.call("GET", `${path}?${new URLSearchParams(query)}`, { key })
  assert.strictEqual(status, 200, JSON.stringify(json))
  return json
})

/** The newest entry for the query, once its outcome is this. */
const traced = Effect.fnUntraced(function* (key: string, query: Readonly<Record<string, string>>, outcome: string) {
  const { entries } = yield* eventually(search(key, query), ({ entries }) => entries[0]?.outcome === outcome)
  return entries[0] as Entry
})

const faults = ({ steps }: Entry) => steps.filter(({ ok }: Entry) => !ok)

/** Sends a mail and waits for its event. */
const sent = Effect.fnUntraced(function* (inbox: Inbox, mail: Parameters<typeof Mail.send>[1] = {}) {
  const inlet = yield* TestInlet
  const before = (yield* Mailbox.events(inbox)).length
  yield* Mail.send(inlet.smtpPort, { to: inbox.address, ...mail })
  const [event] = yield* eventually(Mailbox.events(inbox), (events) => events.length > before)
  return event
})

/** Follows the mail of the last hour from the newest one. */
const following = Effect.fnUntraced(function* (url: string, key: string) {
  const printed = { stdout: "", stderr: "" }
  const args = ["trace", "--follow", "--since", "1h", "--limit", "1"]
  yield* Effect.forkScoped(CommandLine.run(args, { INLET_URL: url, INLET_API_KEY: key }, printed))
  return {
    prints: (stream: keyof typeof printed, text: string) =>
      eventually(
        Effect.sync(() => printed[stream]),
        (all) => all.includes(text),
        "20 seconds"
      )
  }
})

/** Refusals are written at once, where the service waits a second for more. */
const quick = Layer.succeed(RefusalNotes.Bounds, { limits: {}, idleMillis: 10, afterFailureMillis: 10 })

layer(
  Layer.merge(
    TestInlet.layer({ ADMIN_TOKEN: "operator", MAX_MESSAGE_BYTES: "65536", WEBHOOK_RETRY_DELAYS: "1h,1h" }).pipe(
      Layer.provide(quick)
    ),
    WebhookReceiver.layer
  ),
  { excludeTestServices: true }
)("A trace", (it) => {
  it.effect("shows the whole way of a delivered mail, found by its recipient alone", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { url } = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(`${url}hook?token=secret`)
      const event = yield* sent(inbox, { subject: "Your order", messageId: "<Order-1@Shop.example>" })
      const entry = yield* traced(inbox.key, { to: inbox.address }, "delivered")
      assert.deepInclude(entry, {
        from: "sender@sender.example",
        recipient: inbox.address,
        subject: "Your order",
        message_id: "<Order-1@Shop.example>",
        event_id: event.event_id,
        inbound_email_id: event.inbound_email_id,
        summary: "Delivered",
        remedy: null
      })
      assert.deepStrictEqual(faults(entry), [])
      assert.deepStrictEqual(
        entry.steps.map(({ step }: Entry) => step),
        ["session", "recipient", "stored", "read", "event", "route", "attempt", "state"]
      )
      const [session, recipient, stored, read] = entry.steps
      assert.match(
        session.text,
        /^127\.0\.0\.1 connected as \S+, with TLSv1\.3\. Envelope sender: sender@sender\.example$/
      )
      assert.strictEqual(recipient.text, `Accepted for ${inbox.address}`)
      assert.match(stored.text, /^Stored \d+ bytes, and answered 250 after \d+ ms$/)
      assert.match(read.text, /^Parsed after [\d,]+ milliseconds?\. SPF \w+, DKIM none, DMARC \w+$/)
      assert.notInclude(JSON.stringify(entry), "secret")
    })
  )

  it.effect("shows the attempts of clients that lease, those that failed, and one that they did not report", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const call = (path: string, body: unknown) =>
        inlet.call("POST", `/api/domains/${inbox.domainId}/deliveries/${path}`, { key: inbox.key, body })
      yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body: { pull: true } })
      const { event_id } = yield* sent(inbox)
      const leased = Effect.gen(function* () {
        yield* sql`UPDATE deliveries SET due_at = now() WHERE event_id = ${event_id}`
        const { json } = yield* call("lease", { wait: 10 })
        return json.deliveries[0].attempt as number
      })
      const settled = (outcome: Readonly<Record<string, unknown>>) =>
        Effect.flatMap(leased, (attempt) =>
          call("settle", { outcomes: [{ event_id, attempt, durationMs: 5, ...outcome }] })
        )
      yield* settled({ statusCode: null, error: "the database does not answer" })
      yield* leased
      yield* sql`UPDATE deliveries SET leased_until = now() - interval '1 second' WHERE event_id = ${event_id}`
      yield* settled({ statusCode: 200 })
      const { steps } = yield* traced(inbox.key, { to: inbox.address }, "delivered")
      const attempts = steps.filter(({ step }: Entry) => step === "attempt")
      assert.deepStrictEqual(
        attempts.map(({ remedy, text }: Entry) => [text, remedy]),
        [
          [
            "Attempt 1 by a client that leased it: the database does not answer after 5 ms",
            "The client that leased the event reported this. Correct the app that it hands events to"
          ],
          [
            "Attempt 2 by a client that leased it: its outcome was not told in time",
            "Report the outcome of a leased event before the end of its lease"
          ],
          ["Attempt 3 by a client that leased it: 200 after 5 ms", null]
        ]
      )
    })
  )

  it.effect("finds a mail by Message-ID, sender, sender's domain, subject and time, without case", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const bounce = { from: "Bounces@News.example", to: [inbox.address] }
      yield* sent(inbox, {
        from: "Ada <Ada@Letters.example>",
        envelope: bounce,
        subject: "Spring",
        messageId: "<A.1@x>"
      })
      yield* sent(inbox, { from: "bob@other.example", subject: "Autumn", messageId: "<b.2@x>" })
      const found = (query: Readonly<Record<string, string>>) =>
        Effect.map(search(inbox.key, query), ({ entries }) => entries.map(({ subject }: Entry) => subject))
      for (const query of [
        { message_id: "a.1@X" },
        { message_id: "<a.1@x>", from: "letters.example" },
        { from: "ada@letters.example" },
        { from: "bounces@news.EXAMPLE" },
        { from: "news.example" },
        { subject: "sprin" },
        { to: inbox.address, from: "ada@letters.example", since: "2026-01-01" },
        { to: inbox.address.split("@")[1] ?? "", subject: "SPRING", until: "2999-01-01" }
      ]) {
        assert.deepStrictEqual(yield* found(query), ["Spring"], JSON.stringify(query))
      }
      assert.deepStrictEqual(yield* found({}), ["Autumn", "Spring"])
      const tagged = inbox.address.replace("@", "+github@")
      yield* sent(inbox, { to: tagged, from: "bo+x@other.example", subject: "Tagged", messageId: "<c.1@x>" })
      // A query decodes a plus as a blank.
      const { json } = yield* inlet.call("GET", `/api/trace?to=${tagged}&from=bo+x@other.example`, { key: inbox.key })
      assert.deepStrictEqual(
        json.entries.map(({ subject }: Entry) => subject),
        ["Tagged"]
      )
      for (const query of [
        { message_id: "c.3@x" },
        { message_id: "a.1@x", subject: "autumn" },
        { from: "letters.example", until: "2026-01-01" },
        { to: `nobody-${inbox.address}` },
        { from: "_da@letters.example" },
        { subject: "%" }
      ]) {
        assert.deepStrictEqual(yield* found(query), [], JSON.stringify(query))
      }
    })
  )

  it.effect("says of a failed delivery what failed, when it is tried next, and what to do", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      for (const [answer, remedy] of [
        [500, /Look at its log/],
        [302, /follows no redirects/],
        [401, /verifies the signature/],
        [404, /right one/]
      ] as const) {
        yield* receiver.answerWith(answer)
        yield* sent(inbox, { subject: `${answer}` })
        const entry = yield* traced(inbox.key, { to: inbox.address, subject: `${answer}` }, "retrying")
        assert.match(entry.summary, /^The next attempt is at 20/)
        assert.match(entry.remedy, remedy)
        const [attempt] = faults(entry)
        assert.match(attempt.text, new RegExp(`^Attempt 1 to 127\\.0\\.0\\.1:\\d+: ${answer} after \\d+ ms$`))
        assert.match(attempt.remedy, remedy)
      }
      yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
        key: inbox.key,
        body: { webhookUrl: null }
      })
      const held = yield* traced(inbox.key, { to: inbox.address, subject: "500" }, "held")
      assert.match(held.remedy, /^Set a webhookUrl with PATCH \S+\/delivery, then POST /)
      // One step says so.
      assert.strictEqual(held.summary, `Held. ${inbox.domain} has no webhook`)
      assert.lengthOf(
        faults(held).filter(({ text }: Entry) => text.includes("webhook")),
        1
      )

      // A URL that was set since does not take the mail by itself.
      yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
        key: inbox.key,
        body: { webhookUrl: receiver.url }
      })
      const again = yield* traced(inbox.key, { to: inbox.address, subject: "500" }, "held")
      assert.match(again.remedy, /^POST \S+\/replay$/)
      const [route] = again.steps.filter(({ step }: Entry) => step === "route")
      assert.match(route.text, /had no URL then, and is now at 127\.0\.0\.1/)
    })
  )

  it.effect("shows refused mail with its reason and remedy, beside mail that was accepted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* sent(inbox, { subject: "small" })
      yield* Effect.flip(
        Mail.send(inlet.smtpPort, {
          to: inbox.address,
          messageId: "<Large@sender.example>",
          subject: "large",
          text: "x".repeat(80_000)
        })
      )
      for (const query of [
        { to: inbox.address },
        { from: "sender.example" },
        { message_id: "large@Sender.example" },
        { subject: "LARG" }
      ]) {
        const entry = yield* traced(inbox.key, query, "refused")
        assert.deepInclude(entry, { recipient: inbox.address, reason: "too_large", event_id: null })
        assert.match(entry.summary, /^Refused with 552/)
        assert.match(entry.remedy, /exceeds the size limit/)
      }
      const { entries } = yield* search(inbox.key, { to: inbox.address })
      assert.deepStrictEqual(
        entries.map(({ outcome }: Entry) => outcome),
        ["refused", "held"]
      )
    })
  )

  it.effect("is named by waits in vain, with the reason of what was refused meanwhile", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const waits = `/api/domains/${inbox.domainId}/events?after=latest&wait`
      const quiet = yield* inlet.call("GET", `${waits}=1`, { key: inbox.key })
      assert.notProperty(quiet.json, "hint")
      const agent = yield* McpClient.one(inlet.url, inbox.key)
      const [waited, waitedForCode, ofClient, command] = yield* Effect.all(
        [
          // Long enough for all of them to wait while the mail is refused, also on a busy machine.
          inlet.call("GET", `${waits}=7`, { key: inbox.key }),
          agent.call("wait_for_code", { seconds: 7 }),
          Effect.promise(() =>
            new Inlet({ url: inlet.url, apiKey: inbox.key })
              .inbox()
              .then((own) => own.mail({ timeout: 7_000 }))
              .catch((error: unknown) => error)
          ),
          CommandLine.run(["wait", "--timeout", "7s"], { INLET_URL: inlet.url, INLET_API_KEY: inbox.key }),
          OpenWaits.are(4).pipe(
            Effect.andThen(Effect.flip(Mail.send(inlet.smtpPort, { to: inbox.address, text: "x".repeat(80_000) })))
          )
        ],
        { concurrency: "unbounded" }
      )
      const refused = "1 mail for this domain was refused in this time: too_large"
      assert.strictEqual(waited.json.hint, `${refused}. GET /api/trace?to=${inbox.domain} says why, and what to do`)
      assert.strictEqual(waitedForCode.json.refused, `${refused}. list_mail with trace: true says why, and what to do`)
      assert.match(`${ofClient}`, /refused in this time: too_large/)
      assert.strictEqual(command.code, 4)
      assert.match(command.stderr, /No mail within 7s\. 1 mail for this domain was refused/)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("is a tool for agents, in few tokens", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      yield* receiver.answerWith(500)
      yield* sent(inbox, { subject: "Failing" })
      yield* traced(inbox.key, {}, "retrying")
      const agent = yield* McpClient.one(inlet.url, inbox.key)
      const { json, text } = yield* agent.call("list_mail", { trace: true, from: "sender.example" })
      assert.deepInclude(json.mails[0], { outcome: "retrying", subject: "Failing", to: inbox.address })
      assert.match(json.mails[0].remedy, /Look at its log/)
      assert.isAtMost(countTokens(text), 250)
      const none = yield* agent.call("list_mail", { trace: true, from: "nobody.example" })
      assert.match(none.json.hint, /did not reach this service/)
    })
  )

  it.effect("is a timeline in the terminal, which follows new mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      const env = { INLET_URL: inlet.url, INLET_API_KEY: inbox.key, ADMIN_TOKEN: "operator" }
      yield* receiver.answerWith(302)
      yield* sent(inbox, { subject: "Moved" })
      yield* traced(inbox.key, {}, "retrying")
      const shown = yield* CommandLine.run(["trace", "--to", inbox.address, "--since", "1h"], env)
      const lines = shown.stdout.split("\n")
      assert.match(lines[0] ?? "", /^20\S+ {2}RETRYING {2}sender@sender\.example → \S+ {2}Moved$/)
      assert.match(lines[1] ?? "", /^ {2}\d\d:\d\d:\d\d\.\d{3} {2}127\.0\.0\.1 connected as /)
      assert.match(shown.stdout, /^! \S+ {2}Attempt 1 to \S+: 302 after \d+ ms$/m)
      assert.strictEqual(lines.filter((line: string) => line.includes("→ Inlet follows no redirects")).length, 1)
      const none = yield* CommandLine.run(["trace", "--from", "nobody@nowhere.example"], env)
      assert.strictEqual(none.stdout, "")
      assert.match(none.stderr, /did not reach this service/)
      const operator = yield* CommandLine.run(["admin", "trace", "--to", inbox.address, "--json"], env)
      assert.strictEqual(JSON.parse(operator.stdout).entries[0].outcome, "retrying")
      const printed = { stdout: "", stderr: "" }
      const follow = yield* Effect.forkChild(CommandLine.run(["trace", "--follow", "--since", "1h"], env, printed))
      const isShown = (text: string) =>
        eventually(
          Effect.sync(() => printed.stdout),
          (all) => all.includes(text)
        )
      yield* isShown("Moved")
      yield* sent(inbox, { subject: "Later" })
      yield* isShown("Later")
      // The first success of the webhook brings the failed delivery forward.
      yield* isShown(`DELIVERED  sender@sender.example → ${inbox.address}  Moved`)
      yield* Fiber.interrupt(follow)
      const wrong = yield* CommandLine.run(["trace", "--follow", "--until", "1h"], env)
      assert.match(wrong.stderr, /--follow: Expected no --cursor and no --until/)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("follows changes of mail that is on a later page", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      yield* receiver.answerWith(500)
      yield* sent(inbox, { subject: "First" })
      yield* traced(inbox.key, {}, "retrying")
      const { prints } = yield* following(inlet.url, inbox.key)
      yield* prints("stdout", "First")
      // The first success of the webhook brings the failed delivery forward.
      yield* Effect.forEach(["Second", "Third"], (subject) => sent(inbox, { subject }))
      yield* prints("stdout", `DELIVERED  sender@sender.example → ${inbox.address}  First`)
      yield* Effect.forEach(["Second", "Third"], (subject) => prints("stdout", `  ${subject}`))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("goes on to follow mail after failures of the service", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const proxy = yield* WebhookReceiver.make
      const inbox = yield* inlet.inbox()
      yield* sent(inbox, { subject: "First" })
      yield* proxy.answerAlways(PassOn.to(inlet.url))
      const { prints } = yield* following(new URL(proxy.url).origin, inbox.key)
      yield* prints("stdout", "First")
      yield* proxy.answerWith({ status: 503, body: '{"error":"It starts"}' }, (_, response) => response.destroy())
      yield* prints("stderr", "Not connected: It starts. It is tried again\nConnected again\n")
      yield* sent(inbox, { subject: "Second" })
      yield* prints("stdout", "Second")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("shows a stored mail that is not parsed yet", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const event = yield* sent(inbox)
      yield* sql`DELETE FROM events WHERE id = ${event.event_id}`
      yield* sql`
        UPDATE inbound_emails SET state = 'received', leased_until = now() + interval '1 hour'
        WHERE id = ${event.inbound_email_id}
      `
      for (const query of [{ to: inbox.address }, { from: "sender@sender.example" }, {}]) {
        const entry = yield* traced(inbox.key, query, "stored")
        assert.deepInclude(entry, {
          recipient: inbox.address,
          inbound_email_id: event.inbound_email_id,
          event_id: null
        })
        assert.strictEqual(entry.summary, "Waits to be parsed")
      }
      const { entries, hint } = yield* search(inbox.key, { subject: "Hello" })
      assert.deepStrictEqual(entries, [])
      assert.match(hint, /1 stored mail is not parsed/)
    })
  )

  it.effect("finds a mail that is not parsed yet behind many others", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const unread = (count: number, newestAgo: string, address: string, from: string) => sql`
        INSERT INTO inbound_emails (
          id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, leased_until, trace_bytes
        )
        SELECT gen_random_uuid(), ${inbox.domainId}, now() - ${newestAgo}::interval - number * interval '1 second',
          ''::bytea, ${from}, 'sender.example', '127.0.0.1', ARRAY[${address}], 'received', now() + interval '1 hour', 0
        FROM generate_series(1, ${count}::int) AS number
      `
      const wanted = `wanted@${inbox.domain}`
      yield* unread(1, "1 day", wanted, "friend@friend.example")
      yield* unread(300, "1 minute", `other@${inbox.domain}`, "sender@sender.example")
      for (const query of [{ to: wanted }, { from: "friend.example" }, { to: wanted, from: "friend@friend.example" }]) {
        const { entries } = yield* search(inbox.key, query)
        assert.deepStrictEqual(
          entries.map(({ recipient, summary }: Entry) => [recipient, summary]),
          [[wanted, "Waits to be parsed"]]
        )
      }
      // More than one search compares.
      yield* unread(6_000, "1 hour", `other@${inbox.domain}`, "sender@sender.example")
      const found: Array<Entry> = []
      let cursor: string | null = ""
      for (let pages = 0; cursor !== null && pages < 5; pages++) {
        const page: Answer["json"] = yield* search(inbox.key, { to: wanted, ...(cursor === "" ? {} : { cursor }) })
        found.push(...page.entries)
        cursor = page.next_cursor
      }
      assert.isNull(cursor)
      assert.lengthOf(found, 1)
    })
  )

  it.effect("pages through mail and refusals without gaps and repetitions", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* sent(inbox)
      // Several received in one millisecond, and some parsed long after their receipt.
      yield* sql`
        WITH copies AS (
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, payload, subject)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, CASE WHEN number % 5 = 0 THEN position + number ELSE position - number END,
            recipient, sender,
            received_at - number / 3 * interval '1 minute',
            CASE WHEN number % 5 = 0 THEN now() ELSE received_at - number / 3 * interval '1 minute' END, payload, 'Copy'
          FROM events, generate_series(1, 40) AS number WHERE domain_id = ${inbox.domainId}
          RETURNING id, domain_id, position
        )
        INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
        SELECT id, domain_id, domain_id, position, 'held', now() FROM copies
      `
      const pages = Effect.fnUntraced(function* (limit: number, query: Readonly<Record<string, string>> = {}) {
        const ids: Array<string> = []
        let cursor: string | null = null
        do {
          const page: Entry = yield* search(inbox.key, {
            ...query,
            limit: `${limit}`,
            ...(cursor === null ? {} : { cursor })
          })
          assert.isAtMost(page.entries.length, limit)
          for (const { event_id } of page.entries) ids.push(event_id)
          cursor = page.next_cursor
        } while (cursor !== null)
        return ids
      })
      const all = yield* pages(50)
      assert.strictEqual(all.length, 41)
      assert.strictEqual(new Set(all).size, 41)
      for (const limit of [1, 7]) assert.deepStrictEqual(yield* pages(limit), all)
      assert.deepStrictEqual(yield* pages(3, { from: "sender@sender.example" }), all)
      assert.deepStrictEqual(yield* pages(3, { to: inbox.address }), all)
    })
  )

  it.effect("claims no session and no reply for a simulated mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("POST", `/api/domains/${inbox.domainId}/simulate?wait=10`, {
        key: inbox.key,
        body: { sample: "code" }
      })
      const { steps } = yield* traced(inbox.key, { to: inbox.address }, "held")
      assert.match(steps[0].text, /^Simulated with the API\. Envelope sender: /)
      assert.match(steps[2].text, /^Stored \d+ bytes$/)
    })
  )

  it.effect("pages through many refusals of one moment", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const domain = inbox.address.split("@")[1] ?? ""
      yield* sql`
        INSERT INTO refusals (id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, recipient)
        SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000' ||
            substr(md5(number::text), 1, 12))::uuid,
          ${inbox.domainId}, date_trunc('hour', at), decode(md5(number::text), 'hex'), at, at, 1, 452, '452', 'quota',
          number || '@' || ${domain}::text
        FROM generate_series(1, 100) AS number, (SELECT date_trunc('milliseconds', now()) - interval '1 minute') AS t (at)
      `
      for (const limit of ["7", "20"]) {
        const found: Array<string> = []
        let cursor: string | null = null
        do {
          const page: Entry = yield* search(inbox.key, { to: domain, limit, ...(cursor === null ? {} : { cursor }) })
          for (const { recipient } of page.entries) found.push(recipient)
          cursor = page.next_cursor
        } while (cursor !== null)
        assert.strictEqual(found.length, 100)
        assert.strictEqual(new Set(found).size, 100)
      }
    })
  )

  it.effect("says which domains it has searched, if a workspace has more", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, name } = yield* ManyDomains.workspaceWith(1_001)
      yield* inlet.send({ to: `a@1.${name}`, from: "ada@unique.example" })
      const of = (query: Readonly<Record<string, string>>) => search(key, { from: "ada@unique.example", ...query })
      yield* eventually(of({ to: `1.${name}` }), ({ entries }) => entries.length === 1)
      const all = yield* of({})
      assert.lengthOf(all.entries, 0)
      assert.match(all.hint, /^This searched the newest 1,000 domains\. Name the recipient/)
      assert.isNull((yield* of({ to: `1.${name}` })).hint)

      for (const local of ["a", "b"]) yield* inlet.send({ to: `${local}@1001.${name}`, from: "ada@unique.example" })
      yield* eventually(of({}), ({ entries }) => entries.length === 2)
      const first = yield* of({ limit: "1" })
      assert.isNotNull(first.next_cursor)
      assert.match(first.hint, /^This searched the newest 1,000 domains/, "Also on a page that is not the last")
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM domains WHERE name = ${`1.${name}`}`
      assert.isNull((yield* of({ limit: "1" })).hint, "All 1,000 are searched")
    })
  )

  it.effect("explains an empty answer", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { key } = inbox
      const hint = (query: Readonly<Record<string, string>>) => Effect.map(search(key, query), ({ hint }) => hint)
      assert.match(yield* hint({ to: inbox.address }), /did not reach this service.*\/health checks the MX record/)
      assert.match(yield* hint({ to: "ada@elsewhere.example" }), /No domain of this workspace takes mail for ada@/)
      yield* inlet.call("POST", "/api/domains", { key, body: { domain: "traced.example" } })
      assert.match(yield* hint({ to: "ada@traced.example" }), /is not verified, so it takes no mail/)
      const { key: empty } = yield* inlet.workspace
      assert.match((yield* search(empty, {})).hint, /has no domain/)
    })
  )

  it.effect("shows nothing of another workspace, whatever is asked", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const ada = yield* inlet.inbox()
      const bob = yield* inlet.inbox()
      const event = yield* sent(bob, { subject: "private", messageId: "<private-1@sender.example>" })
      yield* Effect.flip(
        Mail.send(inlet.smtpPort, { to: bob.address, messageId: "<big-1@sender.example>", text: "x".repeat(80_000) })
      )
      yield* traced(bob.key, { to: bob.address }, "refused")
      const { next_cursor } = yield* search(bob.key, { to: bob.address, limit: "1" })
      const values = [
        bob.address,
        bob.address.toUpperCase(),
        bob.address.split("@")[1],
        `%@${bob.address.split("@")[1]}`,
        "%",
        "*",
        "_",
        "' OR true --",
        bob.domainId,
        event.event_id,
        event.inbound_email_id,
        event.message_id,
        "private",
        "sender@sender.example",
        "sender.example",
        "private-1@sender.example",
        "big-1@sender.example"
      ].map(String)
      let tries = 0
      for (const name of ["to", "from", "subject", "message_id"]) {
        for (const value of values) {
          for (const other of [{}, { cursor: next_cursor }, { since: "2020-01-01", until: "2999-01-01" }]) {
            const { entries } = yield* search(ada.key, { [name]: value, ...other })
            assert.deepStrictEqual(entries, [], `${name}=${value}`)
            tries++
          }
        }
      }
      assert.isAtLeast(tries, 200)
    })
  )

  it.effect("is for a read key what it is for the workspace's key, and for the operator over all workspaces", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const event = yield* sent(inbox, { subject: "for all", messageId: "<all-1@sender.example>" })
      const made = yield* inlet.call("POST", "/api/workspaces/keys", {
        key: inbox.key,
        body: { name: "reader", scope: "read" }
      })
      const query = { to: inbox.address }
      const own = yield* search(inbox.key, query)
      assert.deepStrictEqual(yield* search(made.json.api_key, query), own)
      for (const asked of [
        query,
        { from: "sender@sender.example" },
        { message_id: "all-1@sender.example" },
        { subject: "for all" },
        {}
      ]) {
        const { entries } = yield* search("operator", asked, "/admin/trace")
        assert.strictEqual(entries[0]?.event_id, event.event_id, JSON.stringify(asked))
      }
      const { hint } = yield* search("operator", { to: "ada@unknown.example" }, "/admin/trace")
      assert.match(hint, /No workspace has the domain/)
      const wrong = yield* inlet.call("GET", "/api/trace?cursor=x", { key: inbox.key })
      assert.strictEqual(wrong.status, 400)
      assert.match(wrong.json.error, /^cursor: Expected the next_cursor/)
    })
  )
})
