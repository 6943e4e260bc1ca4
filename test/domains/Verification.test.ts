import { assert, describe, layer } from "@effect/vitest"
import { Array, Duration, Effect, Layer } from "effect"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const World = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) =>
    TestInlet.layer({ DNS_SERVERS: server, WEBHOOK_RETRY_DELAYS: "1h", ADMIN_TOKEN: "operator" })
  )
).pipe(Layer.provideMerge(Layer.merge(DnsServer.layer, WebhookReceiver.layer)))

/** A new workspace that has registered the name. */
const registered = Effect.fnUntraced(function* (name: string) {
  const inlet = yield* TestInlet
  const { key } = yield* inlet.workspace
  const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
  const path = `/api/domains/${json.id}`
  return {
    key,
    path,
    txtName: json.txt_name as string,
    txtValue: json.txt_value as string,
    verify: inlet.call("POST", `${path}/verify`, { key }),
    status: Effect.map(inlet.call("GET", path, { key }), (answer) => answer.json.status as string)
  }
})

/** The same, verified. */
const verified = Effect.fnUntraced(function* (name: string) {
  const dns = yield* DnsServer
  const domain = yield* registered(name)
  yield* dns.answer("TXT", domain.txtName, { text: [domain.txtValue] })
  yield* domain.verify
  return domain
})

layer(World, { excludeTestServices: true })("Verification with a silent name server", (it) => {
  it.effect("answers 409 with the reason in time, and shows the MX record", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const dns = yield* DnsServer
      const domain = yield* registered("silent.example.com")
      yield* dns.answer("TXT", domain.txtName, "silence")
      yield* dns.answer("MX", "silent.example.com", "silence")
      const [[time, verification], [mxTime, mx]] = yield* Effect.all(
        [Effect.timed(domain.verify), Effect.timed(inlet.call("GET", `${domain.path}/mx`, { key: domain.key }))],
        { concurrency: "unbounded" }
      )
      assert.isBelow(Duration.toMillis(time), 10_000)
      assert.strictEqual(verification.status, 409)
      assert.match(verification.json.error, /^DNS did not answer for _service-verify\.silent\.example\.com \(Timeout\)/)
      assert.isAbove(yield* dns.asked("TXT", domain.txtName), 1, "the question is asked again")
      assert.isBelow(Duration.toMillis(mxTime), 10_000)
      assert.strictEqual(mx.status, 200)
      assert.deepStrictEqual(mx.json.observed, [])
    })
  )
})

layer(World, { excludeTestServices: true })("Verification", (it) => {
  describe("by TXT record", () => {
    it.effect("answers 409 without a TXT record and changes nothing", () =>
      Effect.gen(function* () {
        const domain = yield* registered("missing.example.com")
        const { json, status } = yield* domain.verify
        assert.strictEqual(status, 409)
        assert.deepStrictEqual(json, {
          error: `No TXT record at _service-verify.missing.example.com yet. Publish ${domain.txtValue} there. It can take some minutes to become visible`
        })
        assert.strictEqual(yield* domain.status, "pending_verification")
      })
    )

    it.effect("answers 409 for a name without TXT records", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("empty.example.com")
        yield* dns.answer("TXT", domain.txtName, { text: [] })
        const { json, status } = yield* domain.verify
        assert.strictEqual(status, 409)
        assert.match(json.error, /^No TXT record at /)
      })
    )

    it.effect("answers 409 to a TXT record with another value", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("mismatch.example.com")
        for (const text of ["v=spf1 -all", `${domain.txtValue}0`, domain.txtValue.slice(0, -1), "service_verify_"]) {
          yield* dns.answer("TXT", domain.txtName, { text: [text] })
          const { json, status } = yield* domain.verify
          assert.strictEqual(status, 409, text)
          assert.match(json.error, /has another value\. Expected service_verify_/)
        }
        assert.strictEqual(yield* domain.status, "pending_verification")
      })
    )

    it.effect("rejects the value of another workspace that waits for the same name", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const ada = yield* registered("others-token.example.com")
        const bob = yield* registered("others-token.example.com")
        yield* dns.answer("TXT", ada.txtName, { text: [ada.txtValue] })
        assert.strictEqual((yield* bob.verify).status, 409)
        assert.strictEqual((yield* ada.verify).status, 200)
      })
    )

    it.effect("answers 200 with mx_pending once the record exists", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("verified.example.com")
        assert.strictEqual((yield* domain.verify).status, 409)

        yield* dns.answer("TXT", domain.txtName, { text: [domain.txtValue] })
        const { json, status } = yield* domain.verify
        assert.strictEqual(status, 200)
        assert.strictEqual(json.status, "mx_pending")
        assert.strictEqual(json.domain, "verified.example.com")
        assert.match(json.verified_at, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
        assert.isNull(json.live_at)
      })
    )

    it.effect("finds a match among several records, split into strings", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("split.example.com")
        yield* dns.answer("TXT", domain.txtName, {
          text: [
            "v=spf1 -all",
            [domain.txtValue.slice(0, 7), "", domain.txtValue.slice(7, 8), domain.txtValue.slice(8)],
            "another=one"
          ]
        })
        const { json, status } = yield* domain.verify
        assert.strictEqual(status, 200)
        assert.strictEqual(json.status, "mx_pending")
      })
    )

    it.effect("does not join two records to a match", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("joined.example.com")
        yield* dns.answer("TXT", domain.txtName, { text: [domain.txtValue.slice(0, 20), domain.txtValue.slice(20)] })
        assert.strictEqual((yield* domain.verify).status, 409)
      })
    )

    it.effect("finds a match in an answer that needs TCP", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("huge.example.com")
        const others = Array.range(1, 100).map((n) => `record-${n}-${"x".repeat(200)}`)
        yield* dns.answer("TXT", domain.txtName, { text: [...others, domain.txtValue] })
        assert.strictEqual((yield* domain.verify).status, 200)
      })
    )

    it.effect("finds a match in a DNS answer of up to 64 KiB", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("vast.example.com")
        const others = Array.range(1, 210).map((n) => `${n}`.padEnd(255, "x"))
        yield* dns.answer("TXT", domain.txtName, { text: [...others, domain.txtValue] })
        assert.strictEqual((yield* domain.verify).status, 200)

        // An answer too large for TCP is truncated (RFC 2181, section 9).
        const over = yield* registered("too-vast.example.com")
        yield* dns.answer("TXT", over.txtName, "truncated")
        const [time, { json, status }] = yield* Effect.timed(over.verify)
        assert.strictEqual(status, 409)
        assert.match(json.error, /^(DNS did not answer for|No TXT record at) _service-verify\.too-vast\.example\.com/)
        assert.isBelow(Duration.toMillis(time), 10_000)
      })
    )

    it.effect("accepts a wildcard as proof of one name only", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("wildcard.example.com")
        const other = yield* registered("wildcard.example.com")
        yield* dns.answer("TXT", "*.wildcard.example.com", { text: ["v=spf1 -all"] })
        assert.match((yield* domain.verify).json.error, /has another value/)
        yield* dns.answer("TXT", "*.wildcard.example.com", { text: ["v=spf1 -all", domain.txtValue] })
        assert.strictEqual((yield* other.verify).status, 409)
        assert.strictEqual((yield* domain.verify).status, 200)
      })
    )

    it.effect("follows a chain of CNAMEs, and answers 409 to a loop", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const chained = yield* registered("chained.example.com")
        yield* dns.answer("TXT", chained.txtName, { alias: "one.example.net" })
        yield* dns.answer("TXT", "one.example.net", { alias: "two.example.net" })
        yield* dns.answer("TXT", "two.example.net", { text: [chained.txtValue] })
        assert.strictEqual((yield* chained.verify).status, 200)

        const round = yield* registered("round.example.com")
        yield* dns.answer("TXT", round.txtName, { alias: "there.example.net" })
        yield* dns.answer("TXT", "there.example.net", { alias: round.txtName })
        const [time, { json, status }] = yield* Effect.timed(round.verify)
        assert.strictEqual(status, 409)
        assert.include(json.error, round.txtName)
        assert.isBelow(Duration.toMillis(time), 10_000)
      })
    )

    it.effect("queries the xn-- form of a Unicode name", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("bücher.example")
        assert.strictEqual(domain.txtName, "_service-verify.xn--bcher-kva.example")
        yield* dns.answer("TXT", "_service-verify.xn--bcher-kva.example", { text: [domain.txtValue] })
        assert.strictEqual((yield* domain.verify).status, 200)
      })
    )

    it.effect("answers 409 with the error of a failed lookup", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("servfail.example.com")
        yield* dns.answer("TXT", domain.txtName, "SERVFAIL")
        const { json, status } = yield* domain.verify
        assert.strictEqual(status, 409)
        assert.match(json.error, /^DNS did not answer for _service-verify\.servfail\.example\.com \(ServerFailure\)/)
        assert.strictEqual(yield* domain.status, "pending_verification")
      })
    )

    it.effect("answers 200 with the current status once verified, whatever DNS returns", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* verified("twice.example.com")
        yield* dns.answer("TXT", domain.txtName, "NXDOMAIN")
        const before = yield* dns.asked("TXT", domain.txtName)
        const again = yield* domain.verify
        assert.strictEqual(again.status, 200)
        assert.strictEqual(again.json.status, "mx_pending")
        assert.strictEqual(yield* dns.asked("TXT", domain.txtName), before)

        const inbox = yield* inlet.inbox()
        const instant = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/verify`, { key: inbox.key })
        assert.strictEqual(instant.status, 200)
        assert.strictEqual(instant.json.status, "verified")
      })
    )

    it.effect("answers 409 to a name that another workspace holds, and changes no holder", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const holder = yield* verified("held.example.com")
        const other = yield* registered("held.example.com")
        yield* dns.answer("TXT", other.txtName, { text: [other.txtValue, holder.txtValue] })
        const { json, status } = yield* other.verify
        assert.strictEqual(status, 409)
        assert.match(json.error, /^Another workspace holds this domain/)
        assert.strictEqual(yield* other.status, "pending_verification")
        assert.strictEqual(yield* holder.status, "mx_pending")
      })
    )

    it.effect("grants the name to the next workspace that proves it after the holder removed it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const holder = yield* verified("handed-on.example.com")
        const next = yield* registered("handed-on.example.com")
        yield* inlet.call("DELETE", holder.path, { key: holder.key })
        // The remaining record of the holder proves nothing for others.
        assert.strictEqual((yield* next.verify).status, 409)
        yield* dns.answer("TXT", next.txtName, { text: [next.txtValue] })
        assert.strictEqual((yield* next.verify).status, 200)
      })
    )

    it.effect("grants a name to one of several workspaces that verify at the same time", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const rivals = yield* Effect.forEach(Array.range(1, 5), () => registered("contested.example.com"))
        yield* dns.answer("TXT", "_service-verify.contested.example.com", {
          text: rivals.map(({ txtValue }) => txtValue)
        })
        const answers = yield* Effect.forEach(rivals, ({ verify }) => verify, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          answers.map(({ status }) => status).toSorted((a, b) => a - b),
          [200, 409, 409, 409, 409]
        )
      })
    )

    it.effect("verifies once for ten concurrent requests of one workspace", () =>
      Effect.gen(function* () {
        const dns = yield* DnsServer
        const domain = yield* registered("impatient.example.com")
        yield* dns.answer("TXT", domain.txtName, { text: [domain.txtValue] })
        const answers = yield* Effect.forEach(Array.range(1, 10), () => domain.verify, { concurrency: "unbounded" })
        for (const { json, status } of answers) {
          assert.strictEqual(status, 200)
          assert.strictEqual(json.status, "mx_pending")
        }
        assert.lengthOf(Array.dedupe(answers.map(({ json }) => json.verified_at)), 1)
      })
    )

    it.effect("makes the domain accept mail, and the first 2xx of its webhook makes it live", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const pending = yield* registered("takes-mail.example.com")
        const refused = yield* Effect.flip(Mail.send(inlet.smtpPort, { to: "agent@takes-mail.example.com" }))
        assert.strictEqual(refused.code, 550)
        assert.strictEqual(yield* pending.status, "pending_verification")

        const domain = yield* verified("goes-live.example.com")
        yield* inlet.call("PATCH", `${domain.path}/delivery`, { key: domain.key, body: { webhookUrl: receiver.url } })
        yield* receiver.answerWith(500)
        yield* Mail.send(inlet.smtpPort, { to: "agent@goes-live.example.com", subject: "first" })
        yield* receiver.next
        assert.strictEqual(yield* domain.status, "mx_pending")

        yield* Mail.send(inlet.smtpPort, { to: "agent@goes-live.example.com", subject: "second" })
        yield* receiver.next
        const live = yield* eventually(
          inlet.call("GET", domain.path, { key: domain.key }),
          ({ json }) => json.status === "live"
        )
        assert.isNotNull(live.json.live_at)
        assert.strictEqual((yield* domain.verify).json.status, "live")
      })
    )
  })
  describe("of all records", () => {
    it.effect("shows each record to publish beside what DNS has, and why DNS did not answer", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* registered("state.example.com")
        const state = Effect.map(
          inlet.call("GET", `${domain.path}/dns`, { key: domain.key }),
          ({ json }) => json.records as ReadonlyArray<Record<string, unknown>>
        )
        const txt = { type: "TXT", name: domain.txtName, value: domain.txtValue, priority: null }
        const mx = { type: "MX", name: "state.example.com", value: "mx.inlet.test", priority: 10 }
        assert.deepStrictEqual(yield* state, [
          { ...txt, observed: [], configured: false, problem: null },
          { ...mx, observed: [], configured: false, problem: null }
        ])
        yield* dns.answer("TXT", domain.txtName, { text: ["other", domain.txtValue] })
        yield* dns.answer("MX", "state.example.com", { mx: [[10, "mx.inlet.test"]] })
        assert.deepStrictEqual(yield* state, [
          { ...txt, observed: ["other", domain.txtValue], configured: true, problem: null },
          { ...mx, observed: ["10 mx.inlet.test"], configured: true, problem: null }
        ])
        yield* dns.answer("TXT", domain.txtName, "SERVFAIL")
        const [broken] = yield* state
        assert.strictEqual(broken?.configured, false)
        assert.match(`${broken?.problem}`, /^DNS did not answer for _service-verify\.state\.example\.com/)
      })
    )
  })

  describe("of everything that mail needs", () => {
    it.effect("passes a domain with its records and webhook, and sees the mail server of the service", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const receiver = yield* WebhookReceiver
        const domain = yield* verified("well.example.com")
        yield* dns.answer("MX", "well.example.com", { mx: [[10, "mx.inlet.test"]] })
        yield* dns.answer("A", "mx.inlet.test", { address: "127.0.0.1" })
        const body = { webhookUrl: `${receiver.url}?token=secret` }
        yield* inlet.call("PATCH", `${domain.path}/delivery`, { key: domain.key, body })
        yield* Mail.send(inlet.smtpPort, { to: "ada@well.example.com" })
        const { json, status } = yield* eventually(
          inlet.call("GET", `${domain.path}/health`, { key: domain.key }),
          ({ json }) => JSON.stringify(json).includes("last success")
        )
        assert.strictEqual(status, 200)
        const { host } = new URL(receiver.url)
        const certificate =
          "The certificate of mx.inlet.test is self-signed. Senders encrypt, but cannot check that the server is yours"
        assert.deepStrictEqual(json.mx_hosts, [
          { host: "mx.inlet.test", priority: 10, ours: true, addresses: ["127.0.0.1"] }
        ])
        assert.deepStrictEqual(
          json.checks.map(({ check, message, status }: Record<string, string>) => [
            status,
            check,
            message?.replace(/\d{4}-\S+Z/, "…")
          ]),
          [
            ["ok", "domain", "well.example.com is verified, so its mail is accepted"],
            ["ok", "txt", `The TXT record at ${domain.txtName} has the right value`],
            ["ok", "mx", "The MX record of well.example.com with priority 10 is mx.inlet.test"],
            ["ok", "mx_host", "mx.inlet.test (priority 10) is the mail host of this service, at 127.0.0.1"],
            [
              "ok",
              "port25",
              `The mail server answers on this machine, at port ${inlet.smtpPort}. In development no other machine is asked`
            ],
            ["ok", "starttls", "The mail server mx.inlet.test offers STARTTLS, so senders encrypt mail"],
            ["ok", "certificate", certificate],
            ["ok", "webhook", `The webhook at ${host} works. Its last success was at …`],
            ["ok", "quota", "The workspace has received 1 of 100 messages today, and 99 are left"],
            ["ok", "last_mail", "The last mail arrived at …"],
            ["ok", "refusals", "No mail was refused today"]
          ]
        )
        assert.strictEqual(json.status, "ok")
        assert.strictEqual(json.summary, "Everything that this service can check is in order for well.example.com")
        const { json: read } = yield* inlet.call("POST", "/api/workspaces/keys", {
          key: domain.key,
          body: { scope: "read" }
        })
        const shown = yield* inlet.call("GET", `${domain.path}/health`, { key: read.api_key })
        assert.strictEqual(shown.status, 200)
        assert.notInclude(JSON.stringify(shown.json), "secret")
      })
    )

    it.effect("recognizes an alias, an address in place of a host, and a null MX in answers of DNS", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const lines = Effect.fnUntraced(function* (name: string, mx: ReadonlyArray<readonly [number, string]>) {
          const domain = yield* verified(name)
          yield* dns.answer("MX", name, { mx })
          const { json } = yield* inlet.call("GET", `${domain.path}/health`, { key: domain.key })
          return json.checks
            .filter(({ check }: Record<string, string>) => check?.startsWith("mx"))
            .map(({ message, status }: Record<string, string>) => `${status}: ${message}`) as ReadonlyArray<string>
        })
        yield* dns.answer("A", "real.other.example", { address: "127.0.0.1" })
        yield* dns.answer("A", "alias.other.example", { alias: "real.other.example" })
        yield* dns.answer("CNAME", "alias.other.example", { alias: "real.other.example" })
        assert.include(
          yield* lines("alias.example.com", [[10, "alias.other.example"]]),
          "warning: alias.other.example (priority 10) belongs to another service, and is an alias (CNAME). Some senders refuse to send to an alias"
        )
        assert.deepStrictEqual(yield* lines("literal.example.com", [[10, "192.0.2.1"]]), [
          "error: The MX record of literal.example.com is the address 192.0.2.1. It must be the name of a host"
        ])
        assert.deepStrictEqual(yield* lines("null.example.com", [[0, "."]]), [
          'error: null.example.com has the MX record "0 .", which says that it takes no mail (RFC 7505)'
        ])
      })
    )

    it.effect("warns of the MX records of others from the first ingest key for the domain until its removal", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* verified("relayed.example.com")
        yield* dns.answer("MX", "relayed.example.com", { mx: [[10, "relay.example"]] })
        const status = Effect.map(inlet.call("GET", `${domain.path}/health`, { key: domain.key }), ({ json }) =>
          json.checks.flatMap((one: Record<string, string>) => (one.check === "mx" ? [one.status] : []))
        )
        assert.deepStrictEqual(yield* status, ["error"])
        const keys = "/api/workspaces/keys"
        const made = yield* inlet.call("POST", keys, { key: domain.key, body: { scope: "ingest" } })
        assert.deepStrictEqual(yield* status, ["warning"])
        yield* inlet.call("DELETE", `${keys}/${made.json.id}`, { key: domain.key })
        assert.deepStrictEqual(yield* status, ["error"])
      })
    )

    it.effect("names each problem with its remedy, the worst one in the summary", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver.make
        const pending = yield* registered("ill.example.com")
        yield* Effect.flip(Mail.send(inlet.smtpPort, { to: "ada@ill.example.com" }))
        const told = (path: string, key: string, check: string) =>
          Effect.map(inlet.call("GET", `${path}/health`, { key }), ({ json }) => ({
            ...json,
            one: json.checks.find((one: Record<string, unknown>) => one.check === check)
          }))
        const refused = yield* eventually(told(pending.path, pending.key, "refusals"), ({ one }) => one.status !== "ok")
        assert.match(refused.one.message, /^1 recipient or message was refused today: not_verified 1$/)
        assert.match(refused.one.remedy, /^The domain was not verified\. Unless it is now, publish its TXT record/)
        assert.strictEqual(refused.status, "error")
        assert.strictEqual(
          refused.summary,
          "Mail for ill.example.com does not arrive or is not delivered: ill.example.com is not verified, so its mail is refused (and 2 more)"
        )

        const inbox = yield* inlet.inbox()
        const path = `/api/domains/${inbox.domainId}`
        const held = yield* told(path, inbox.key, "webhook")
        assert.match(held.one.message, /^No webhook is set, so Inlet holds mail/)
        assert.strictEqual(held.status, "warning")
        yield* receiver.answerAlways(302)
        const body = { webhookUrl: receiver.url }
        yield* inlet.call("PATCH", `${path}/delivery`, { key: inbox.key, body })
        yield* Mail.send(inlet.smtpPort, { to: inbox.address })
        const failing = yield* eventually(told(path, inbox.key, "webhook"), ({ one }) => one.status === "error")
        assert.match(
          failing.one.message,
          /^Every request to the webhook at 127\.0\.0\.1:\d+ has failed since \S+Z\. The last error: the webhook answered 302\. 1 event waits, and the next attempt is at \S+Z$/
        )
        assert.match(failing.one.remedy, /^Inlet follows no redirects\. Set the webhook to the URL it redirects to/)
        const disabled = yield* inlet.call("POST", `/admin/domains/${inbox.domain}/disable`, {
          key: "operator"
        })
        assert.strictEqual(disabled.status, 200)
        const stopped = yield* told(path, inbox.key, "domain")
        assert.match(stopped.one.message, /is disabled, so its mail is refused\. The reason: disabled by the operator$/)
      })
    )
  })

  describe("by MX record", () => {
    it.effect("returns the expected record beside the observed ones", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const domain = yield* registered("no-mx.example.com")
        const { json, status } = yield* inlet.call("GET", `${domain.path}/mx`, { key: domain.key })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json, {
          domain: "no-mx.example.com",
          records: [{ type: "MX", name: "no-mx.example.com", priority: 10, value: "mx.inlet.test" }],
          observed: [],
          configured: false
        })
      })
    )

    it.effect("is configured if our host is among others, in any case", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* registered("with-mx.example.com")
        yield* dns.answer("MX", "with-mx.example.com", {
          mx: [
            [20, "backup.example.net"],
            [10, "MX.Inlet.Test"]
          ]
        })
        const { json } = yield* inlet.call("GET", `${domain.path}/mx`, { key: domain.key })
        assert.deepStrictEqual(json.observed, [
          { priority: 10, value: "mx.inlet.test" },
          { priority: 20, value: "backup.example.net" }
        ])
        assert.isTrue(json.configured)
      })
    )

    it.effect("is not configured with other hosts only", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* registered("other-mx.example.com")
        yield* dns.answer("MX", "other-mx.example.com", { mx: [[5, "mx.inlet.test.example.net"]] })
        const { json } = yield* inlet.call("GET", `${domain.path}/mx`, { key: domain.key })
        assert.deepStrictEqual(json.observed, [{ priority: 5, value: "mx.inlet.test.example.net" }])
        assert.isFalse(json.configured)
      })
    )

    it.effect("returns the expected record when DNS fails", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const domain = yield* registered("broken-mx.example.com")
        yield* dns.answer("MX", "broken-mx.example.com", "SERVFAIL")
        const { json, status } = yield* inlet.call("GET", `${domain.path}/mx`, { key: domain.key })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json.observed, [])
        assert.isFalse(json.configured)
        assert.lengthOf(json.records, 1)
      })
    )
  })
})
