import { createHmac } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as FakeFormat from "../../../src/testing/FakeFormat.ts"
import * as FakeRawStore from "../../../src/testing/FakeRawStore.ts"
import * as Public from "../../../src/testing/TestInlet.ts"
import { message } from "../../mime/Message.ts"
import { database } from "../../TestInlet.ts"
import { type ReceivedRequest, WebhookReceiver } from "../../WebhookReceiver.ts"
import * as Form from "./Form.ts"
import * as Hooked from "./Hooked.ts"

const acme = FakeFormat.make({ needs: "parts", final: [418] })
const rawStore = FakeRawStore.make()

const settings = {
  WEBHOOK_CHANGES_PER_MINUTE: "0",
  WEBHOOK_RETRY_DELAYS: "1ms,1h",
  SENDER_CHECKS: "false",
  MAX_EMAILS_PER_DAY: "0"
}

const withUser = (url: string, user = "postmaster", password = "the-pass%40word") =>
  url.replace("http://", `http://${user}:${password}@`)

const formOf = ({ body, headers }: ReceivedRequest) =>
  Form.read({ headers: { "Content-Type": `${headers["content-type"]}` }, body })

const bill = Buffer.from([0x25, 0xff, 0x0d, 0x0a])
const attachments = [{ filename: "bill.pdf", content: bill }]

layer(Public.TestInlet.layer({ settings, database, formats: { acme: acme.layer }, rawStore: rawStore.layer }), {
  excludeTestServices: true
})("A webhook in another format", (it) => {
  it.effect("takes user name and password from its URL, and sends them as Authorization", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { address, send, set } = yield* Hooked.of({ webhookUrl: withUser(receiver.url), format: "raw" })
      assert.deepInclude(set.json, { webhookUrl: receiver.url, format: "raw", basicAuth: true })
      assert.notProperty(set.json, "signingKey")

      yield* send({ subject: "Raw", text: "as sent" })
      const { body, headers } = yield* receiver.next
      assert.strictEqual(headers.authorization, `Basic ${Buffer.from("postmaster:the-pass@word").toString("base64")}`)
      assert.strictEqual(headers["content-type"], "message/rfc822")
      assert.strictEqual(headers["content-length"], `${body.length}`)
      const text = body.toString()
      assert.isTrue(text.startsWith(`X-Original-To: ${address}\r\nReturn-Path: <sender@sender.example>\r\nReceived: `))
      assert.match(text, /\r\nSubject: Raw\r\n/)
      assert.match(text, /\r\n\r\nas sent\r\n$/)
    })
  )

  it.effect("has the headers and fields of a raw format, which nothing shows, until the next URL", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      // One begins with the other, and is not shown in part.
      const header = "a-secret"
      const field = `${header}-in-a-field`
      const raw = { field: "email", fields: { key: field }, headers: { "X-API-Key": header } }
      const { get, only, patch, send, set, test } = yield* Hooked.of({ webhookUrl: receiver.url, format: "raw", raw })
      const { json, text } = yield* test
      assert.isTrue(json.ok, text)
      assert.strictEqual(json.request.headers["X-API-Key"], "…")
      assert.strictEqual((yield* formOf(yield* receiver.next)).value("key"), field)

      yield* send({ subject: "In a form" })
      const posted = yield* receiver.next
      assert.strictEqual(posted.headers["x-api-key"], header)
      assert.match((yield* formOf(posted)).value("email") ?? "", /\r\nSubject: In a form\r\n/)
      yield* only(({ status }) => status === "delivered")
      const told = [set.text, text, (yield* get()).text, (yield* get("/webhooks")).text]
      told.push((yield* get("/delivery-attempts")).text)
      for (const part of [header, "-in-a-field"]) assert.notInclude(told.join(), part)

      yield* patch({ webhookUrl: `${receiver.url}/next` })
      yield* send({ subject: "Bare" })
      const bare = yield* receiver.next
      assert.notProperty(bare.headers, "x-api-key")
      assert.strictEqual(bare.headers["content-type"], "message/rfc822")
    })
  )

  it.effect("signs the exact bytes of the request with the webhook secret too", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const format of ["raw", "mailgun", "postmark", "sendgrid", "sendgrid-raw", "mandrill"]) {
        const { secret, send } = yield* Hooked.of({ webhookUrl: receiver.url, format })
        yield* send({ attachments })
        const { body, headers } = yield* receiver.next
        const [, seconds, tag] = /^t=(\d+),v1=([\da-f]+)$/.exec(`${headers["x-service-signature"]}`) ?? []
        assert.strictEqual(createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex"), tag, format)
      }
    })
  )

  it.effect("has the files of the mail, from the parser threads", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const sendgrid = yield* Hooked.of({ webhookUrl: receiver.url, format: "sendgrid" })
      yield* sendgrid.send({ attachments })
      const { files, value } = yield* formOf(yield* receiver.next)
      assert.deepStrictEqual(
        files.map(({ content, filename }) => [filename, content]),
        [["bill.pdf", bill]]
      )
      assert.strictEqual(value("attachments"), "1")

      const postmark = yield* Hooked.of({ webhookUrl: receiver.url, format: "postmark" })
      yield* postmark.send({ attachments })
      const { event } = yield* receiver.next
      assert.strictEqual(event.OriginalRecipient, postmark.address)
      assert.strictEqual(event.Attachments[0].Content, bill.toString("base64"))
      assert.include(event.RawEmail, "filename=bill.pdf")
    })
  )

  it.effect("has the text as mail libraries have it, also where that is not the event's", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { address, get, send } = yield* Hooked.of({ webhookUrl: receiver.url, format: "mailgun" })
      const report = "Action: failed"
      const sendRaw = (raw: Buffer) => send({ raw, envelope: { from: "ada@sender.example", to: address } })
      yield* sendRaw(
        message(
          "Content-Type: multipart/report; boundary=b",
          "",
          "--b",
          "Content-Transfer-Encoding: quoted-printable",
          "",
          "Not delivered ",
          "--b",
          "Content-Type: message/delivery-status",
          "",
          report,
          "--b--"
        )
      )
      const bounced = yield* formOf(yield* receiver.next)
      assert.strictEqual(bounced.value("body-plain"), "Not delivered ")
      assert.strictEqual(bounced.value("stripped-text"), "Not delivered ")
      assert.strictEqual(bounced.value("delivery-status"), report)
      assert.isUndefined(bounced.value("attachment-count"))

      yield* sendRaw(message("Content-Transfer-Encoding: quoted-printable", "", "Hello ", "-- ", "Ada", ""))
      const { value } = yield* formOf(yield* receiver.next)
      assert.strictEqual(value("body-plain"), "Hello \n-- \nAda\n")
      assert.isUndefined(value("delivery-status"))
      const listed: ReadonlyArray<{ readonly event_id: string }> = (yield* get("/events")).json.events
      const texts = yield* Effect.forEach(listed, ({ event_id }) =>
        Effect.map(get(`/events/${event_id}`), ({ json }) => json.text)
      )
      assert.sameMembers(texts, ["Hello\n--\nAda\n", `Not delivered\n${report}`])
    })
  )

  it.effect("has the message of a header too long for the main thread", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const format of ["raw", "sendgrid-raw", "sendgrid"]) {
        const { send } = yield* Hooked.of({ webhookUrl: receiver.url, format })
        yield* send({ text: "after it", headers: { "X-Long": "word ".repeat(20_000), "X-Spam-Score": "9" } })
        const request = yield* receiver.next
        const text = request.body.toString("latin1")
        assert.include(text, "after it", format)
        assert.notInclude(text, "X-Spam-Score", format)
        assert.isBelow(text.length, format === "sendgrid" ? 70_000 : 300_000)
      }
    })
  )

  it.effect("makes a Mailgun signing key once, keeps it for the format, and signs with it", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { domainId, key, patch, secret, send, set } = yield* Hooked.of({
        webhookUrl: receiver.url,
        format: "mailgun"
      })
      const { signingKey } = set.json
      assert.match(signingKey, /^[\da-f]{64}$/)
      yield* send()
      const { value } = yield* formOf(yield* receiver.next)
      const tag = (by: string) =>
        createHmac("sha256", by)
          .update(`${value("timestamp")}${value("token")}`)
          .digest("hex")
      assert.strictEqual(value("signature"), tag(signingKey))
      assert.notStrictEqual(value("signature"), tag(secret))

      // Another URL keeps it, and a rotation of the webhook secret too.
      const inlet = yield* Public.TestInlet
      assert.notProperty((yield* patch({ webhookUrl: `${receiver.url}/other` })).json, "signingKey")
      yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key })
      yield* send()
      const later = yield* formOf(yield* receiver.next)
      assert.strictEqual(
        later.value("signature"),
        createHmac("sha256", signingKey)
          .update(`${later.value("timestamp")}${later.value("token")}`)
          .digest("hex")
      )
      // Without the URL it is gone.
      yield* patch({ webhookUrl: null })
      const { json } = yield* inlet.call("GET", `/api/domains/${domainId}`, { key })
      assert.deepInclude(json, { webhookUrl: null, webhookFormat: "inlet", webhookBasicAuth: false })
      const again = yield* patch({ webhookUrl: receiver.url, format: "mailgun" })
      assert.notStrictEqual(again.json.signingKey, signingKey)
    })
  )

  it.effect("takes the key of a receiver that has one, and never answers it", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const signingKey = "the key of a receiver"
      const { get, send, set } = yield* Hooked.of({ webhookUrl: `${receiver.url}/mime`, format: "mailgun", signingKey })
      assert.notProperty(set.json, "signingKey")
      yield* send()
      const { value } = yield* formOf(yield* receiver.next)
      assert.strictEqual(
        value("signature"),
        createHmac("sha256", signingKey)
          .update(`${value("timestamp")}${value("token")}`)
          .digest("hex")
      )
      assert.isDefined(value("body-mime"))
      assert.notInclude((yield* get()).text, signingKey)
    })
  )

  it.effect("lets no captured native signature pass at a Mailgun receiver", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { send, set } = yield* Hooked.of({ webhookUrl: receiver.url, format: "mailgun" })
      yield* send()
      const { body, headers } = yield* receiver.next
      const [, timestamp, tag] = /^t=(\d+),v1=([\da-f]+)$/.exec(`${headers["x-service-signature"]}`) ?? []
      const forged = createHmac("sha256", set.json.signingKey).update(`${timestamp}.`).update(body).digest("hex")
      assert.notStrictEqual(forged, tag)
    })
  )

  it.effect("is the same bytes on a retry, except for Mailgun's time and token", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const format of ["raw", "postmark", "sendgrid", "mandrill", "mailgun"]) {
        yield* receiver.answerWith(500)
        const { send } = yield* Hooked.of({ webhookUrl: receiver.url, format })
        yield* send({ attachments })
        const [first, second] = [yield* receiver.next, yield* receiver.next]
        if (format === "mailgun") {
          const [before, after] = [yield* formOf(first), yield* formOf(second)]
          assert.strictEqual(first.headers["content-type"], second.headers["content-type"])
          assert.notStrictEqual(before.value("token"), after.value("token"))
        } else assert.isTrue(first.body.equals(second.body), format)
      }
    })
  )

  it.effect("ends the tries at the statuses that end them at the provider", () =>
    Effect.gen(function* () {
      for (const [format, status, isDead] of [
        ["mailgun", 406, true],
        ["postmark", 403, true],
        ["acme", 418, true],
        ["sendgrid", 410, true],
        ["raw", 406, false],
        ["mailgun", 403, false],
        ["sendgrid", 400, false]
      ] as const) {
        const receiver = yield* WebhookReceiver.make
        yield* receiver.answerAlways(status)
        const { only, send } = yield* Hooked.of({ webhookUrl: receiver.url, format })
        yield* send()
        const { delivery } = yield* only(({ attempts, status }) => (isDead ? status === "dead" : attempts === 2))
        const name = `${format} ${status}`
        assert.deepInclude(delivery, { status: isDead ? "dead" : "pending", attempts: isDead ? 1 : 2 }, name)
        assert.strictEqual(delivery.lastError, `the webhook answered ${status}`, name)
      }
    })
  )

  it.effect("is dead at once, without a request, if the raw message is gone", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { get, only, send } = yield* Hooked.of({ webhookUrl: receiver.url, format: "raw" })
      const before = (yield* receiver.all).length
      yield* rawStore.will("refuse", "get")
      yield* send()
      const { delivery } = yield* only(({ status }) => status === "dead").pipe(
        Effect.ensuring(rawStore.will("work", "get"))
      )
      assert.deepInclude(delivery, { attempts: 1, lastError: "the raw message is gone" })
      assert.lengthOf(yield* receiver.all, before)
      // That says nothing about the webhook.
      assert.isNull((yield* get()).json.webhook_failing)
    })
  )

  it.effect("is retried if the store does not answer", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { only, replay, send } = yield* Hooked.of({ webhookUrl: receiver.url, format: "postmark" })
      yield* rawStore.will("fail", "get")
      yield* send({ subject: "later" })
      const { delivery, event_id } = yield* only(({ attempts }) => attempts === 2).pipe(
        Effect.ensuring(rawStore.will("work", "get"))
      )
      assert.deepInclude(delivery, { status: "pending", lastError: "the raw message store does not answer" })
      yield* replay(event_id)
      assert.strictEqual((yield* receiver.next).event.Subject, "later")
    })
  )

  it.effect("keeps the credentials and headers of a paused webhook that is resumed as its health check advises", () =>
    Effect.gen(function* () {
      const inlet = yield* Public.TestInlet
      const receiver = yield* WebhookReceiver.make
      const sql = yield* SqlClient.SqlClient
      const { domainId, get, key, only, send } = yield* Hooked.of({
        webhookUrl: receiver.url.replace("http://", "http://app:secret@"),
        format: "raw",
        raw: { headers: { "x-api-key": "k" } }
      })
      yield* send()
      const { headers: before } = yield* receiver.next
      yield* only(({ status }) => status === "delivered")
      yield* sql`
        UPDATE webhooks SET failing_since = now() - interval '5 days', paused_at = now(),
          probe_at = now() + interval '1 hour'
        WHERE id = ${domainId}
      `
      yield* send()
      const { json } = yield* get("/health")
      const checks: ReadonlyArray<{ readonly check: string; readonly remedy: string }> = json.checks
      const advice = checks.find(({ check }) => check === "webhook")?.remedy ?? ""
      const [, path = "", change = ""] = /Then resume it with PATCH (\S+) (\{.*\})/.exec(advice) ?? []
      assert.strictEqual((yield* inlet.call("PATCH", path, { key, body: JSON.parse(change) })).status, 200)
      const { headers } = yield* receiver.next
      assert.deepStrictEqual([headers.authorization, headers["x-api-key"]], [before.authorization, "k"])
      assert.isNull((yield* get()).json.webhook_paused_at)
    })
  )

  it.effect("fails by the schedule in a format that this process does not know, and sends nothing", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const sql = yield* SqlClient.SqlClient
      const { domainId, only, send } = yield* Hooked.of({ webhookUrl: receiver.url, format: "raw" })
      const before = (yield* receiver.all).length
      yield* sql`UPDATE webhooks SET format = 'other' WHERE id = ${domainId}`
      yield* send()
      const { delivery } = yield* only(({ attempts }) => attempts === 2)
      assert.deepInclude(delivery, { status: "pending", lastError: "the format other is not known here" })
      assert.lengthOf(yield* receiver.all, before)
    })
  )

  it.effect("can be a program's own, whose failure costs one attempt", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { only, replay, send, set } = yield* Hooked.of({ webhookUrl: withUser(receiver.url), format: "acme" })
      assert.match(set.json.signingKey, /^[\da-f]{64}$/)
      yield* send({ subject: "own", attachments })
      const { body, headers } = yield* receiver.next
      assert.strictEqual(headers["content-type"], "text/plain")
      const asked = acme.asked.at(-1)
      assert.strictEqual(body.toString(), asked?.eventId)
      assert.strictEqual(asked?.event.subject, "own")
      assert.deepStrictEqual(asked !== undefined && "parts" in asked && asked.parts.map(({ filename }) => filename), [
        "bill.pdf"
      ])
      assert.strictEqual(asked?.stamp.credentials.user, "postmaster")
      const { event_id } = yield* only(({ status }) => status === "delivered")

      const other = yield* Hooked.of({ webhookUrl: receiver.url, format: "acme" })
      yield* acme.will("refuse")
      yield* other.send()
      const refused = yield* other.only(({ attempts }) => attempts === 2).pipe(Effect.ensuring(acme.will("work")))
      assert.deepInclude(refused.delivery, {
        status: "pending",
        lastError: "the format acme could not make the request"
      })
      assert.notStrictEqual(event_id, refused.event_id)
      yield* other.replay(refused.event_id)
      assert.strictEqual((yield* receiver.next).body.toString(), refused.event_id)
      yield* replay(event_id)
    })
  )

  it.effect("gets the sample of a test in its format, shown without the password", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const format of ["raw", "mailgun", "postmark", "sendgrid", "sendgrid-raw", "mandrill"]) {
        const { domain, test } = yield* Hooked.of({ webhookUrl: withUser(receiver.url), format })
        const { json, text } = yield* test
        const { body, headers } = yield* receiver.next
        assert.deepInclude(json, { ok: true, statusCode: 200 }, format)
        assert.isTrue(`${headers.authorization}`.startsWith("Basic "), format)
        assert.strictEqual(json.request.headers.Authorization, "Basic …")
        assert.strictEqual(json.request.body, body.toString(), format)
        assert.include(
          decodeURIComponent(body.toString().replaceAll("%", "%25")),
          ["mailgun", "mandrill"].includes(format) ? "test%40" : `test@${domain}`
        )
        assert.notInclude(text, Buffer.from("postmaster:the-pass@word").toString("base64"))
      }
    })
  )

  it.effect("makes waiting mail due in a new format", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(401, 401)
      const { only, patch, send } = yield* Hooked.of({ webhookUrl: receiver.url, format: "raw" })
      yield* send()
      yield* only(({ attempts }) => attempts === 2)
      yield* Effect.all([receiver.next, receiver.next])
      yield* patch({ webhookUrl: receiver.url, format: "postmark" })
      assert.strictEqual((yield* receiver.next).event.MessageStream, "inbound")
      yield* only(({ status }) => status === "delivered")
    })
  )

  it.effect("sends no password to the next URL that has none", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { patch, send } = yield* Hooked.of({ webhookUrl: withUser(receiver.url), format: "raw" })
      const { json } = yield* patch({ webhookUrl: `${receiver.url}/next` })
      assert.deepInclude(json, { format: "raw", basicAuth: false })
      yield* send()
      const { headers, path } = yield* receiver.next
      assert.strictEqual(path, "/hook/next")
      assert.notProperty(headers, "authorization")
    })
  )

  it.effect("shows its credentials nowhere", () =>
    Effect.gen(function* () {
      const inlet = yield* Public.TestInlet
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(500)
      const signingKey = "the-signing-key-of-this-test"
      const { domainId, get, key, only, send, set } = yield* Hooked.of({
        webhookUrl: withUser(receiver.url, "the-user", "the-secret-word"),
        format: "mailgun",
        signingKey
      })
      yield* send()
      yield* only(({ status }) => status === "delivered")
      yield* Effect.all([receiver.next, receiver.next])
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", {
        key,
        body: { name: "reader", scope: "read" }
      })
      const told = [set.text]
      for (const rest of [
        "",
        "/delivery-attempts",
        "/events",
        "/webhook/health",
        "/webhooks",
        `/webhooks/${domainId}`,
        "/health"
      ]) {
        told.push((yield* get(rest)).text)
        told.push((yield* inlet.call("GET", `/api/domains/${domainId}${rest}`, { key: json.api_key ?? key })).text)
      }
      const rows = yield* sql`SELECT * FROM webhooks WHERE id = ${domainId}`
      told.push(
        rows.map((row) => Object.values(row).join()).join(),
        Buffer.from((rows[0]?.credentials ?? []) as Uint8Array).toString("latin1")
      )
      for (const secret of [
        "the-user",
        "the-secret-word",
        signingKey,
        Buffer.from("the-user:the-secret-word").toString("base64")
      ]) {
        for (const text of told) assert.notInclude(text, secret)
      }
      assert.include(told.join(), '"webhookBasicAuth":true')
    })
  )
})

layer(Public.TestInlet.layer({ settings, database }), { excludeTestServices: true })(
  "The settings of a format",
  (it) => {
    const url = "https://app.example/hook"
    const credentials = "https://user:a-secret@app.example/hook"
    const refusals: ReadonlyArray<readonly [name: string, body: unknown, message: RegExp]> = [
      [
        "an unknown format",
        { webhookUrl: url, format: "ses" },
        /^format: Expected one of inlet, raw, mailgun, postmark, sendgrid, sendgrid-raw, mandrill$/
      ],
      [
        "options of another format",
        { webhookUrl: url, format: "postmark", raw: {} },
        /^raw: The format postmark has none/
      ],
      ["options without a URL", { webhookUrl: null, raw: {} }, /^raw: Expected it only beside a webhookUrl/],
      ["base64 without a field", { webhookUrl: url, format: "raw", raw: { base64: true } }, /only beside a field/],
      [
        "the type of a form",
        { webhookUrl: url, format: "raw", raw: { field: "a", contentType: "a/b" } },
        /Expected none beside a field/
      ],
      [
        "a field of the message's name",
        { webhookUrl: url, format: "raw", raw: { field: "a", fields: { a: "b" } } },
        /Expected another name/
      ],
      ...["Host", "content-length", "Transfer-Encoding", "X-Service-Signature", "webhook-id", "a b", "a\r\nb"].map(
        (name): readonly [string, unknown, RegExp] => [
          `the header ${JSON.stringify(name)}`,
          { webhookUrl: url, format: "raw", raw: { headers: { [name]: "x" } } },
          /^raw.headers: Expected at most 20 headers/
        ]
      ),
      [
        "a header with a line end",
        { webhookUrl: url, format: "raw", raw: { headers: { "X-Key": "a\r\nHost: b" } } },
        /^raw.headers: Expected at most 20 headers/
      ],
      [
        "two authorizations",
        { webhookUrl: credentials, format: "raw", raw: { headers: { authorization: "Bearer x" } } },
        /^raw.headers: Expected no Authorization/
      ],
      [
        "credentials in Inlet's own format",
        { webhookUrl: credentials },
        /^webhookUrl: Expected a URL without user name and password for the format inlet/
      ],
      [
        "a name without a password",
        { webhookUrl: "https://a-secret@app.example/", format: "raw" },
        /^webhookUrl: Expected a user name and a password/
      ],
      [
        "a password without a name",
        { webhookUrl: "https://:a-secret@app.example/", format: "raw" },
        /^webhookUrl: Expected a user name and a password/
      ],
      ["a name with a colon", { webhookUrl: "https://a%3Ab:a-secret@app.example/", format: "raw" }, /without a colon/],
      [
        "a control character",
        { webhookUrl: "https://a:a-secret%0A@app.example/", format: "raw" },
        /without control characters/
      ],
      [
        "a malformed escape",
        { webhookUrl: "https://a:a-secret%zz@app.example/", format: "raw" },
        /^webhookUrl: Expected a user name/
      ],
      [
        "a password over 256 bytes",
        { webhookUrl: `https://a:${"a-secret".repeat(33)}@app.example/`, format: "raw" },
        /of 1 to 256 bytes/
      ],
      [
        "a signing key for a format without one",
        { webhookUrl: url, format: "postmark", signingKey: "a-secret-of-some-length" },
        /^signingKey: The format postmark has none/
      ],
      [
        "a short signing key",
        { webhookUrl: url, format: "mailgun", signingKey: "a-secret" },
        /^signingKey: Expected 16 to 200 printable ASCII characters/
      ],
      [
        "a signing key beyond ASCII",
        { webhookUrl: url, format: "mailgun", signingKey: "a-secret-of-some-längth" },
        /^signingKey: Expected/
      ],
      ["a format without a URL", { webhookUrl: null, format: "raw" }, /^format: Expected it only beside a webhookUrl/],
      [
        "a signing key without a URL",
        { webhookUrl: null, signingKey: "a-secret-of-some-length" },
        /^signingKey: Expected it only beside a webhookUrl/
      ],
      [
        "options beside another format",
        { webhookUrl: url, format: "mailgun", raw: { headers: { "X-API-Key": "a-secret" } } },
        /^raw: The format mailgun has none/
      ],
      [
        "options with a header of the connection",
        { webhookUrl: url, format: "raw", raw: { headers: { Host: "a-secret" } } },
        /^raw\.headers: Expected at most 20 headers/
      ],
      [
        "options with a line break in a header",
        { webhookUrl: url, format: "raw", raw: { headers: { "X-API-Key": "a-secret\r\nX-Other: 1" } } },
        /^raw\.headers: Expected/
      ],
      [
        "options with the fields of a form and no form",
        { webhookUrl: url, format: "raw", raw: { fields: { key: "a-secret" } } },
        /^raw\.fields: Expected it only beside a field/
      ],
      ["a format beside pull", { pull: true, format: "raw" }, /^format: Expected it only beside a webhookUrl/]
    ]
    for (const [name, body, message] of refusals) {
      it.effect(`answers 400 to ${name}, and does not repeat a secret`, () =>
        Effect.gen(function* () {
          const { get, set } = yield* Hooked.of(body as Record<string, unknown>)
          assert.strictEqual(set.status, 400, set.text)
          assert.match(set.json.error, message)
          assert.notInclude(set.text, "a-secret")
          assert.isNull((yield* get()).json.webhookUrl)
        })
      )
    }

    it.effect("are part of the webhooks resource too", () =>
      Effect.gen(function* () {
        const inlet = yield* Public.TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const call = (method: "GET" | "PATCH" | "POST", rest: string, body?: unknown) =>
          inlet.call(method, `/api/domains/${domainId}/webhooks${rest}`, {
            key,
            ...(body === undefined ? {} : { body })
          })
        const created = yield* call("POST", "", {
          pattern: "support",
          webhookUrl: "http://u:p@127.0.0.1:9/a",
          format: "mailgun"
        })
        assert.strictEqual(created.status, 201, created.text)
        assert.deepInclude(created.json.webhook, {
          webhookUrl: "http://127.0.0.1:9/a",
          format: "mailgun",
          basicAuth: true
        })
        assert.match(created.json.signingKey, /^[\da-f]{64}$/)
        const { id } = created.json.webhook
        const described = yield* call("PATCH", `/${id}`, { description: "the app" })
        assert.deepInclude(described.json.webhook, { format: "mailgun", basicAuth: true })
        assert.notProperty(described.json, "signingKey")
        const moved = yield* call("PATCH", `/${id}`, { webhookUrl: "http://127.0.0.1:9/b" })
        assert.deepInclude(moved.json.webhook, { format: "mailgun", basicAuth: false })
        const held = yield* call("PATCH", `/${id}`, { action: "hold" })
        assert.deepInclude(held.json.webhook, { format: "inlet", basicAuth: false })
        assert.strictEqual((yield* call("PATCH", `/${id}`, { format: "raw" })).status, 400)
        assert.strictEqual(
          (yield* call("POST", "", { pattern: "b", webhookUrl: "http://u:p@127.0.0.1:9/" })).status,
          400
        )
      })
    )

    it.effect("of the present webhook change nothing when set again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const body = { webhookUrl: "http://u:p@127.0.0.1:9/", format: "mailgun", signingKey: "a key with some length" }
        const { domainId, patch } = yield* Hooked.of(body)
        // The worker ends the recovery of a new webhook by itself.
        const row = sql`SELECT to_jsonb(webhooks) - 'recovering_at' AS settings FROM webhooks WHERE id = ${domainId}`
        const before = yield* row
        yield* patch(body)
        assert.deepStrictEqual(yield* row, before)
        yield* patch({ ...body, webhookUrl: "http://u:other@127.0.0.1:9/" })
        assert.notDeepEqual(yield* row, before)
      })
    )
  }
)
