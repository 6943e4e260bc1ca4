import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as RefusalNotes from "../../src/refusals/RefusalNotes.ts"
import type { Answer } from "../ApiCall.ts"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const client = { client: "203.0.113.9", helo: "mail.sender.example" }

interface Given {
  readonly key?: string
  readonly recipient?: string | ReadonlyArray<string>
  readonly from?: string
  readonly client?: Partial<typeof client>
  readonly headers?: Readonly<Record<string, string>>
}

/** An inbox with an ingest key, and a relay that uses it. */
const inbox = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const made = yield* inlet.inbox()
  const created = yield* inlet.call("POST", "/api/workspaces/keys", { key: made.key, body: { scope: "ingest" } })
  const relayKey: string = created.json.api_key
  const path = ({ client: about = client, from = "ada@sender.example", recipient = made.address }: Given = {}) => {
    const query = new URLSearchParams({ from, ...about })
    for (const one of [recipient].flat()) query.append("recipient", one)
    return `/api/domains/${made.domainId}/ingest?${query}`
  }
  return {
    ...made,
    relayKey,
    path,
    hand: (message: string, given: Given = {}) =>
      inlet.call("POST", path(given), {
        key: given.key ?? relayKey,
        body: message,
        headers: { "content-type": "message/rfc822", ...given.headers }
      })
  }
})

const message = (id: string, ...more: ReadonlyArray<string>) =>
  [
    ...more,
    "From: Ada <ada@sender.example>",
    `Subject: ${id}`,
    `Message-ID: <${id}@sender.example>`,
    "",
    "Can you read this?",
    ""
  ].join("\r\n")

/** The refusals of a domain, once there are as many. */
const refusals = Effect.fnUntraced(function* ({ domainId, key }: Mailbox.Inbox, count = 1) {
  const inlet = yield* TestInlet
  const { json } = yield* eventually(
    inlet.call("GET", `/api/domains/${domainId}/refusals`, { key }),
    ({ json }) => json.refusals.length >= count
  )
  return json.refusals as ReadonlyArray<Answer["json"]>
})

/** Status, SMTP code and enhanced code of an answer. */
const told = ({ json, status }: Answer) => [status, json.smtp?.code, json.smtp?.enhanced]

/** Written at once, where the service waits a second for more. */
const quick = Layer.succeed(RefusalNotes.Bounds, { limits: {}, idleMillis: 10, afterFailureMillis: 10 })

const settings = { SENDER_CHECKS: "false", MAX_MESSAGE_BYTES: "65536", MAX_EMAILS_PER_SENDER_PER_DAY: "5" }

layer(TestInlet.layer(settings).pipe(Layer.provide(quick)), { excludeTestServices: true })("Mail of a relay", (it) => {
  it.effect("becomes the same event as over SMTP, but for ids, times and what marks the way", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const box = yield* inbox
      const plain = ({
        delivery: _d,
        envelope: { from },
        event_id,
        headers,
        inbound_email_id,
        rawRef,
        receivedAt,
        ...rest
      }: Answer["json"]) => ({
        ...rest,
        from,
        headers: headers.filter(({ name }: { readonly name: string }) => name !== "Received"),
        ids: [event_id, inbound_email_id, rawRef, receivedAt].map((id) => typeof id)
      })
      const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}.eml`, import.meta.url), "utf8")
      for (const bytes of ["newsletter", "forwarded", "iso-2022-jp", "padded-boundaries"].map(fixture)) {
        const before = (yield* Mailbox.events(box)).length
        yield* Mailbox.deliver(inlet.smtpPort, box.address, bytes, { from: "ada@sender.example" })
        yield* eventually(Mailbox.events(box), (all) => all.length === before + 1)
        const { json, status } = yield* box.hand(bytes)
        assert.deepStrictEqual([status, Object.keys(json)], [202, ["inbound_email_id"]])
        const [sent, relayed] = (yield* Mailbox.events(box)).slice(-2)
        assert.strictEqual(relayed.inbound_email_id, json.inbound_email_id)
        assert.deepStrictEqual(plain(relayed), plain(sent))
        assert.deepStrictEqual(relayed.envelope, {
          from: "ada@sender.example",
          helo: client.helo,
          remoteAddress: client.client,
          relayed: true
        })
        assert.notProperty(sent.envelope, "relayed")
        const stored = yield* Mailbox.raw(box, relayed.event_id)
        assert.match(
          stored,
          /^Return-Path: <ada@sender\.example>\r\nReceived: from mail\.sender\.example \(\[203\.0\.113\.9\]\) \(as the relay says\)\r\n\tby \S+ with HTTP id /
        )
        assert.isTrue(stored.endsWith(bytes))
        yield* sql`DELETE FROM client_limits`
      }
    })
  )

  it.effect("is marked as relayed after a crash before it was parsed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const box = yield* inbox
      const { json } = yield* box.hand(message("crashed"))
      const [first] = yield* Mailbox.events(box)
      yield* sql`DELETE FROM events WHERE id = ${first.event_id}`
      yield* sql`UPDATE inbound_emails SET state = 'received', read_recipients = 0, leased_until = NULL WHERE id = ${json.inbound_email_id}`
      const [second] = yield* Mailbox.events(box)
      assert.notStrictEqual(second.event_id, first.event_id)
      assert.deepStrictEqual(second.envelope, first.envelope)
    })
  )

  it.effect("is marked as relayed in the trace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* inbox
      yield* box.hand(message("traced"))
      yield* Mailbox.events(box)
      const trace = yield* inlet.call("GET", `/api/trace?to=${box.address}`, { key: box.key })
      const [{ text }] = trace.json.entries[0].steps
      assert.strictEqual(
        text,
        "A relay handed it over by HTTP. It says that 203.0.113.9 connected as mail.sender.example. Envelope sender: ada@sender.example"
      )
    })
  )

  it.effect("without a client has an empty address, and with an empty sender is a bounce", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      assert.strictEqual((yield* box.hand(message("nobody"), { client: {}, from: "" })).status, 202)
      const [event] = yield* Mailbox.events(box)
      assert.deepStrictEqual(event.envelope, { from: "", helo: "", remoteAddress: "", relayed: true })
      assert.strictEqual(event.sender, "bounce")
    })
  )

  it.effect("does not count for the client that the relay names", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* inbox
      for (let number = 0; number < 6; number++) {
        const { status } = yield* box.hand(message(`many-${number}`), { client: { client: "127.0.0.1" } })
        assert.strictEqual(status, 202)
      }
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, box.address, message("first")), /^250 /)
    })
  )

  it.effect("is one event if the relay repeats it, though each attempt has new trace fields", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const attempt = (number: number) =>
        box.hand(
          message(
            "again",
            `Received: from mail.sender.example (203.0.113.9)\r\n by relay.example id ${number}`,
            `ARC-Seal: i=1; t=${number}`,
            `X-CF-SpamH-Score: ${number}`
          )
        )
      const [first, second] = [yield* attempt(1), yield* attempt(2)]
      assert.deepStrictEqual([second.status, second.json], [202, first.json])
      assert.strictEqual((yield* box.hand(message("again", "X-Other: content"))).status, 202)
      assert.lengthOf(yield* Mailbox.events(box), 2)
    })
  )

  it.effect("without a Message-ID is one event under the same Idempotency-Key, and 422 with other bytes", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const headers = { "idempotency-key": "queue-1" }
      const first = yield* box.hand("Subject: one\r\n\r\n", { headers })
      const second = yield* box.hand("Subject: one\r\n\r\n", { headers })
      assert.deepStrictEqual([second.status, second.json], [202, first.json])
      const other = yield* box.hand("Subject: other\r\n\r\n", { headers })
      assert.deepStrictEqual(told(other), [422, undefined, undefined])
      assert.match(other.json.error, /^Idempotency-Key: /)
      assert.lengthOf(yield* Mailbox.events(box), 1)
      yield* box.hand("Subject: one\r\n\r\n")
      assert.lengthOf(yield* Mailbox.events(box), 2)
    })
  )

  it.effect(
    "is never answered 202 while one of its recipients has another message under the same Idempotency-Key",
    () =>
      Effect.gen(function* () {
        const box = yield* inbox
        for (let turn = 0; turn < 8; turn++) {
          const headers = { "idempotency-key": `queue-${turn}` }
          const [one, two] = [`a${turn}@${box.domain}`, `b${turn}@${box.domain}`]
          assert.strictEqual((yield* box.hand("Subject: one\r\n\r\n", { headers, recipient: one })).status, 202)
          const other = yield* box.hand("Subject: other\r\n\r\n", { headers, recipient: [one, two] })
          assert.strictEqual(other.status, 422)
        }
      })
  )

  it.effect("goes to several recipients, or to none if one is refused", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const recipient = [`one@${box.domain}`, `two@${box.domain}`]
      assert.strictEqual((yield* box.hand(message("several"), { recipient })).status, 202)
      const events = yield* Mailbox.events(box)
      assert.sameMembers(
        events.map((event) => event.recipient),
        recipient
      )
      const refused = yield* box.hand(message("torn"), { recipient: [...recipient, "three@elsewhere.example"] })
      assert.deepStrictEqual(told(refused), [422, 550, "5.1.2"])
      assert.deepStrictEqual(refused.json.recipients, ["three@elsewhere.example"])
      assert.lengthOf(yield* Mailbox.events(box), 2)
    })
  )

  it.effect("goes to nobody if a recipient or the sender is no single address, as in SMTP", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const [one, two] = [`one@${box.domain}`, `two@${box.domain}`]
      for (const recipient of [`${one},${two}`, `a b@${box.domain}`, `a@b@${box.domain}`, `@${box.domain}`, ""]) {
        const refused = yield* box.hand(message("no-recipient"), { recipient: [one, recipient] })
        assert.deepStrictEqual(told(refused), [422, 501, "5.1.3"], recipient)
        assert.deepStrictEqual(refused.json.recipients, [recipient])
      }
      for (const from of ["ada", "a@b.example,c@d.example", "a b@c.example", "@d.example"]) {
        assert.deepStrictEqual(told(yield* box.hand(message("no-sender"), { from })), [422, 501, "5.1.7"], from)
      }
      assert.lengthOf(yield* Mailbox.events(box), 0)
      const quoted = `"one, two@home"@${box.domain}`
      // Longer than the path of RFC 5321, as forwarders write it.
      const long = `${"v".repeat(255)}@sender.example`
      for (const given of [{ recipient: quoted }, { from: "" }, { from: `"a b"@sender.example` }, { from: long }]) {
        assert.strictEqual((yield* box.hand(message(JSON.stringify(given)), given)).status, 202)
      }
    })
  )

  it.effect("is refused with the reply of SMTP, and is in the ledger and the trace as relayed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* inbox
      const other = yield* box.hand(message("elsewhere"), { recipient: "someone@elsewhere.example" })
      assert.deepStrictEqual(told(other), [422, 550, "5.1.2"])
      assert.strictEqual(other.json.error, "550 5.1.2 This domain does not receive mail here")
      const [refusal] = yield* refusals(box)
      assert.deepInclude(refusal, {
        reason: "relay",
        code: 550,
        reply: other.json.error,
        client_address: client.client,
        helo: client.helo,
        relayed: true,
        from: "ada@sender.example",
        recipient: "someone@elsewhere.example"
      })
      const trace = yield* inlet.call("GET", "/api/trace?from=ada@sender.example", { key: box.key })
      assert.match(
        trace.json.entries[0].steps[0].text,
        /^A relay handed it over by HTTP\. It says that 203\.0\.113\.9 /
      )
    })
  )

  it.effect("to an address whose webhook rejects mail is 550 5.1.1", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* inbox
      yield* inlet.call("POST", `/api/domains/${box.domainId}/webhooks`, {
        key: box.key,
        body: { pattern: "closed", action: "reject" }
      })
      const recipient = `closed@${box.domain}`
      assert.deepStrictEqual(told(yield* box.hand(message("closed"), { recipient })), [422, 550, "5.1.1"])
      assert.deepInclude((yield* refusals(box))[0], { reason: "rejected_route", recipient })
    })
  )

  it.effect("over the quota is 452 with the time until midnight, before and after its body", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      yield* Mailbox.acceptToday(box.domainId, 100)
      const answer = yield* box.hand(message("full"))
      assert.deepStrictEqual(told(answer), [429, 452, "4.2.2"])
      assert.isAtMost(Number(answer.headers["retry-after"]), 86_400)
      assert.isAbove(Number(answer.headers["retry-after"]), 0)
      assert.deepInclude((yield* refusals(box))[0], { reason: "quota", recipient: box.address })
    })
  )

  it.effect("in a loop is 554, with its subject in the ledger", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const loop = Array.from({ length: 60 }, () => "Received: from a.example by b.example")
      assert.deepStrictEqual(told(yield* box.hand(message("loop", ...loop))), [422, 554, "5.4.6"])
      assert.deepInclude((yield* refusals(box))[0], {
        reason: "loop",
        subject: "loop",
        message_id: "<loop@sender.example>"
      })
    })
  )

  it.effect("over the size limit is 552, whether the size is announced or not", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const large = `${message("large")}${"x".repeat(70_000)}\r\n`
      assert.deepStrictEqual(told(yield* box.hand(large)), [413, 552, "5.3.4"])
      const chunked = yield* spoken(box, [
        "transfer-encoding: chunked\r\n\r\n",
        `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`
      ])
      assert.match(chunked, /^HTTP\/1\.1 413 .*"smtp":\{"code":552,/s)
      const listed = yield* refusals(box)
      assert.includeMembers(
        listed.map(({ reason }) => reason),
        ["too_large"]
      )
      assert.lengthOf(yield* Mailbox.events(box), 0)
    })
  )

  it.effect("is answered 503 and 451 if it cannot be stored, and 202 afterwards", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const box = yield* inbox
      yield* sql`ALTER TABLE received_once RENAME TO received_elsewhere`
      const answer = yield* Effect.ensuring(
        box.hand(message("stored-later")),
        Effect.orDie(sql`ALTER TABLE received_elsewhere RENAME TO received_once`)
      )
      assert.deepStrictEqual([...told(answer), answer.headers["retry-after"]], [503, 451, "4.3.0", "5"])
      assert.deepInclude((yield* refusals(box))[0], { reason: "storage", subject: "stored-later" })
      assert.strictEqual((yield* box.hand(message("stored-later"))).status, 202)
      assert.lengthOf(yield* Mailbox.events(box), 1)
    })
  )

  it.effect("that breaks off is not stored", () =>
    Effect.gen(function* () {
      const box = yield* inbox
      const torn = message("torn-body")
      yield* spoken(box, [`content-length: ${torn.length + 100}\r\n\r\n${torn}`], "end")
      yield* spoken(box, [`transfer-encoding: chunked\r\n\r\n${torn.length.toString(16)}\r\n${torn}\r\n`], "end")
      assert.strictEqual((yield* box.hand(message("whole"))).status, 202)
      const events = yield* Mailbox.events(box)
      assert.deepStrictEqual(
        events.map(({ subject }) => subject),
        ["whole"]
      )
    })
  )

  it.effect("for a name that another workspace holds does not reach that workspace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const holder = yield* Mailbox.attach("held.example")
      const { key } = yield* inlet.workspace
      const own = yield* inlet.call("POST", "/api/domains", { key, body: { domain: "held.example" } })
      const answer = yield* inlet.call(
        "POST",
        `/api/domains/${own.json.id}/ingest?from=a@b.example&recipient=x@held.example`,
        { key, body: message("stolen"), headers: { "content-type": "message/rfc822" } }
      )
      assert.deepStrictEqual(told(answer), [422, 550, "5.1.2"])
      assert.deepStrictEqual(yield* Mailbox.stored(holder.domainId), [])
      assert.deepInclude((yield* refusals({ key, domainId: own.json.id }))[0], { reason: "not_verified" })
    })
  )

  it.effect("needs its envelope and the type of a message", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* inbox
      const bare = yield* inlet.call("POST", `/api/domains/${box.domainId}/ingest`, { key: box.relayKey, body: "x" })
      assert.strictEqual(bare.status, 400)
      assert.match(bare.json.error, /^from: /)
      const unnamed = yield* inlet.call("POST", `/api/domains/${box.domainId}/ingest?from=`, { key: box.relayKey })
      assert.match(unnamed.json.error, /^recipient: /)
      const json = yield* box.hand("{}", { headers: { "content-type": "application/json" } })
      assert.deepStrictEqual([json.status, json.json.error.slice(0, 13)], [400, "Content-Type:"])
      const wrong = yield* box.hand(message("x"), { client: { client: "localhost" } })
      assert.deepStrictEqual([wrong.status, wrong.json.error], [400, "client: Expected an IPv4 or IPv6 address"])
    })
  )
})

layer(TestInlet.layer({ SENDER_CHECKS: "false", MAX_MESSAGE_BYTES: "65536", SMTP_MAX_DATA_BYTES: "65536" }), {
  excludeTestServices: true
})("The memory for relayed mail", (it) => {
  it.effect("is that of SMTP, and its owner is the workspace", () =>
    Effect.gen(function* () {
      const { url } = yield* TestInlet
      const [slow, other] = [yield* inbox, yield* inbox]
      const start = () => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => socket.destroy())
        socket.write(`${headOf(slow)}content-length: 65000\r\n\r\n${"x".repeat(60_000)}`)
        return socket
      }
      let socket = start()
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      const second = message("second", `X-Long: ${"x".repeat(10_000)}`)
      const hand = Effect.suspend(() => {
        // It is the one without room if the second message came first.
        if (socket.destroyed) socket = start()
        return slow.hand(second)
      })
      const full = yield* eventually(hand, ({ status }) => status !== 202)
      assert.deepStrictEqual([...told(full), full.headers["retry-after"]], [503, 452, "4.3.1", "5"])
      assert.strictEqual((yield* other.hand(second)).status, 202)
      socket.destroy()
      yield* eventually(slow.hand(message("third", `X-Long: ${"x".repeat(10_000)}`)), ({ status }) => status === 202)
    })
  )
})

layer(
  Layer.unwrap(
    Effect.map(DnsServer, ({ server }) => TestInlet.layer({ DNS_SERVERS: server, SENDER_CHECKS: "true" }))
  ).pipe(Layer.provideMerge(DnsServer.layer)),
  { excludeTestServices: true }
)("The sender of relayed mail", (it) => {
  it.effect("is checked by the client that the relay names, and has no SPF result without one", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* dns.answer("TXT", "sender.example", { text: ["v=spf1 ip4:203.0.113.9 -all"] })
      const box = yield* inbox
      yield* box.hand(message("named"))
      yield* box.hand(message("forged"), { client: { client: "198.51.100.1" } })
      yield* box.hand(message("unnamed"), { client: {} })
      const events = yield* Mailbox.accepted(box)
      assert.deepStrictEqual(
        events.map(({ authentication, envelope }) => [authentication.spf, envelope.relayed]),
        [
          ["pass", true],
          ["fail", true],
          ["none", true]
        ]
      )
    })
  )
})

/** The start of a request, to which more header fields may be added. */
const headOf = ({ path, relayKey }: Pick<Effect.Success<typeof inbox>, "path" | "relayKey">) =>
  `POST ${path()} HTTP/1.1\r\nhost: inlet.test\r\nauthorization: Bearer ${relayKey}\r\ncontent-type: message/rfc822\r\n`

/** The answer to a request that is written as it is. */
const spoken = Effect.fnUntraced(function* (
  relay: Parameters<typeof headOf>[0],
  [first = "", ...rest]: ReadonlyArray<string>,
  then: "answer" | "end" = "answer"
) {
  const { url } = yield* TestInlet
  return yield* Effect.callback<string>((resume) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    let text = ""
    socket.setEncoding("utf8").on("data", (data) => {
      text += data
      if (then === "answer" && text.includes("}")) socket.destroy()
    })
    socket.on("error", () => {}).on("close", () => resume(Effect.succeed(text)))
    socket.write(`${headOf(relay)}${first}`)
    for (const part of rest) socket.write(part)
    if (then === "end") socket.end()
  })
})
