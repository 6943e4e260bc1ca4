import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Fiber, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Ledger from "../../src/operations/Ledger.ts"
import * as CommandLine from "../CommandLine.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as ManyDomains from "../ManyDomains.ts"
import * as Needs from "../Needs.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** Runs commands with the service in INLET_URL, and a key in INLET_API_KEY or none. */
const person = Effect.fnUntraced(function* (key?: string, env: Program.Options["env"] = {}) {
  const { url } = yield* TestInlet
  const all = { INLET_URL: url, INLET_API_KEY: key, INLET_PROFILE: undefined, ...env }
  const run = (...args: ReadonlyArray<string>) => CommandLine.run(args, all)
  return {
    env: all,
    run,
    json: (...args: ReadonlyArray<string>) =>
      Effect.map(run(...args, "--json"), ({ code, stderr, stdout }) => {
        assert.strictEqual(code, 0, stderr)
        assert.lengthOf(stdout.trimEnd().split("\n"), 1)
        return JSON.parse(stdout)
      })
  }
})

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })(
  "The workspace commands",
  (it) => {
    it.effect("create a workspace, an inbox and a webhook, and list its events and attempts", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { json, run } = yield* person((yield* inlet.workspace).key)
        const inbox = yield* json("inboxes", "create")
        assert.match(inbox.address, /^inbox@/)
        const again = yield* run("inboxes", "create")
        assert.strictEqual(again.stdout, `${inbox.address}\n`)
        const empty = yield* run("events", "list")
        assert.strictEqual(empty.stdout, "")
        assert.strictEqual(empty.stderr, "No such events\n")

        const webhook = yield* json("domains", "webhook", inbox.domain, "http://127.0.0.1:9/nobody")
        assert.strictEqual(webhook.webhookUrl, "http://127.0.0.1:9/nobody")
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "Hello", text: "Hi" })
        const mail = yield* json("wait", "--newer-than", "5m")
        const id = mail.event.event_id

        const list = yield* run("events", "list", "--subject", "hello", "--limit", "1")
        const [names, row] = list.stdout.split("\n")
        assert.strictEqual(names, "EVENT_ID\tRECEIVED\tDELIVERY\tTO\tFROM\tSUBJECT")
        assert.match(
          row ?? "",
          new RegExp(`^${id}\t[^\t]+\tpending\t${inbox.address}\tsender@sender\\.example\tHello$`)
        )
        const wrong = yield* run("events", "list", "--to", "not an address")
        assert.deepStrictEqual(
          [wrong.code, wrong.stderr],
          [1, "recipient: Expected an address, such as agent-7@example.com\n"]
        )
        assert.include((yield* run("events", "list", "--since", "1h", "--until", "0s")).stdout, id)
        assert.strictEqual((yield* run("events", "list", "--since", "2999-01-01")).stderr, "No such events\n")
        const turned = yield* run("events", "list", "--since", "1h", "--until", "2h")
        assert.strictEqual(turned.stderr, "until: Expected a time that is not before since\n")
        assert.strictEqual(
          (yield* run("events", "get", "first")).stderr,
          'Invalid value for argument <event_id>: "first". Expected a UUID\nRun: inlet events get --help\n'
        )
        yield* json("domains", "add", "münchen.example")
        // It takes no mail before it is verified.
        assert.include((yield* run("events", "list", "--order", "asc")).stdout, id)
        assert.strictEqual((yield* json("domains", "get", "MÜNCHEN.example.")).domain, "xn--mnchen-3ya.example")
        assert.strictEqual((yield* run("domains", "remove", "münchen.example", "--yes")).code, 0)
        assert.match((yield* run("domains", "list", "--url", "localhost:3000")).stderr, /a URL such as http:/)
        const full = yield* json("events", "list", "--full")
        assert.strictEqual(full.events[0].text, "Hi\n")
        const one = yield* run("events", "get", id)
        assert.match(one.stdout, new RegExp(`^event_id +${id}$`, "m"))

        const replayed = yield* run("replay", id)
        assert.strictEqual(replayed.stdout, `${id} is sent again\n`)
        const attempts = yield* json("attempts", "--event", id)
        assert.strictEqual(attempts.deliveryAttempts[0].event_id, id)
        assert.match((yield* run("attempts")).stdout, /^REQUESTED\tEVENT_ID\tATTEMPT\t/)
        const workspace = yield* json("workspaces", "get")
        assert.strictEqual(workspace.used.emails_today, 1)
      })
    )

    it.effect("list a mail without an author from the null sender as <>", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { run } = yield* person(inbox.key)
        yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: bounce\r\n\r\nHi\r\n", { from: "" })
        yield* Mailbox.events(inbox)
        assert.match((yield* run("events", "list")).stdout, /\t<>\tbounce$/m)
      })
    )

    it.effect("set and remove the operational webhook, and list operational events", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const url = "http://127.0.0.1:9/operations"
        assert.strictEqual((yield* json("workspaces", "ops-webhook", url)).opsWebhookUrl, url)
        assert.strictEqual((yield* json("workspaces", "get")).opsWebhookUrl, url)
        assert.isNull((yield* json("workspaces", "ops-webhook", "--none")).opsWebhookUrl)
        for (const wrong of [[], [url, "--none"]]) {
          const { code, stderr } = yield* run("workspaces", "ops-webhook", ...wrong)
          assert.deepStrictEqual(
            [code, stderr.trimEnd().split("\n").at(-1)],
            [1, "ops-webhook-url: Expected a URL, or --none to remove the webhook"]
          )
        }
        assert.strictEqual((yield* run("workspaces", "ops-events")).stderr, "No operational events yet\n")
        const record = yield* Ledger.make
        const domainId = DomainId.make(inbox.domainId)
        const { workspace_id } = yield* json("workspaces", "get")
        yield* record({
          workspaceId: WorkspaceId.make(workspace_id),
          domainId,
          details: {
            type: "domain.verified",
            occurred_at: DateTime.makeUnsafe("2026-01-31T12:00:00Z"),
            domain_id: domainId,
            domain: DomainName.make(inbox.domain),
            message: "It is verified"
          }
        })
        const { operational_events } = yield* json("workspaces", "ops-events", "--type", "domain.verified")
        assert.strictEqual(operational_events[0].event.domain_id, inbox.domainId)
        assert.strictEqual(
          (yield* run("workspaces", "ops-events", "--limit", "1")).stdout,
          "OCCURRED\tTYPE\tDELIVERY\tMESSAGE\n2026-01-31T12:00:00.000Z\tdomain.verified\t-\tIt is verified\n"
        )
      })
    )

    it.effect("say whether mail of a domain arrives, with a remedy for each problem", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const { code, stderr, stdout } = yield* run("doctor", "--domain", inbox.domain)
        assert.strictEqual(code, 0)
        assert.match(
          stderr,
          /^Mail for \S+ works, but something needs attention: No webhook is set, so Inlet holds mail\. 0 events are held\n$/
        )
        assert.match(stdout, new RegExp(`^✓ domain +${inbox.domain} is verified`, "m"))
        assert.match(stdout, /^✓ starttls +The mail server mx\.inlet\.test offers STARTTLS/m)
        assert.match(
          stdout,
          /^! webhook +No webhook is set.*\n {15}→ Set a webhook with `inlet domains webhook \S+ https:\/\/…`\. Held/m
        )
        assert.strictEqual((yield* json("doctor", "--domain", inbox.domain)).status, "warning")

        const { json: own } = yield* inlet.call("POST", "/api/domains", {
          key: inbox.key,
          body: { domain: "doctor.example.com" }
        })
        const everywhere = yield* json("events", "list")
        assert.deepStrictEqual(everywhere, { events: [], next_cursor: null })
        // The own domain takes no mail yet.
        assert.strictEqual((yield* run("events", "list", "--order", "asc")).stderr, "No such events\n")
        const ill = yield* run("doctor", "--domain", own.id)
        assert.strictEqual(ill.code, 1)
        assert.match(ill.stdout, /^✗ domain +doctor\.example\.com is not verified/m)
        assert.match(ill.stderr, /^Mail for doctor\.example\.com does not arrive or is not delivered: /)
        const unknown = yield* run("doctor", "--domain", "other.example.com")
        assert.match(unknown.stderr, /^No domain other\.example\.com in this workspace/)
      })
    )

    it.effect("replay all dead deliveries of a domain after a count, and print what became of them", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* WebhookReceiver.make
        const inbox = yield* inlet.inbox(receiver.url)
        const { json, run } = yield* person(inbox.key)
        const none = yield* run("replay", "--dead")
        assert.deepStrictEqual([none.code, none.stderr], [0, `${inbox.domain} has no dead deliveries to replay\n`])
        assert.include((yield* run("replay", "--held")).stderr, "`inlet senders release` delivers mail that a rule, ")

        yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${inbox.domainId}`
        yield* Deliveries.pending(DomainId.make(inbox.domainId), 5)
        yield* sql`UPDATE deliveries SET status = 'dead' WHERE domain_id = ${inbox.domainId}`
        yield* sql`UPDATE webhooks SET action = 'webhook', url = ${receiver.url} WHERE id = ${inbox.domainId}`
        const unconfirmed = yield* run("replay", "--dead", "--since", "2d")
        assert.strictEqual(unconfirmed.code, 1)
        assert.include(
          unconfirmed.stderr,
          `Replay 5 dead deliveries of ${inbox.domain}? There is no terminal to confirm`
        )
        const replayed = yield* run("replay", "--dead", "--since", "2d", "--yes")
        assert.strictEqual(replayed.stdout, "5 dead deliveries replayed: 5 delivered, 0 failed\n")
        const again = yield* json("replay", "--delivered", "--domain", inbox.domain, "--yes")
        assert.deepInclude(again, { state: "done", total: 5, delivered: 5 })
        for (const wrong of [[], ["--dead", "--held"], [inbox.domainId, "--dead"]]) {
          const { code, stderr } = yield* run("replay", ...wrong)
          assert.deepStrictEqual(
            [code, stderr.trimEnd().split("\n").at(-1)],
            [1, "Expected an event id, or one of --dead, --held and --delivered"]
          )
        }
        const waiting = yield* inlet.inbox()
        yield* inlet.send({ to: waiting.address })
        yield* Mailbox.accepted(waiting)
        const own = { key: waiting.key, body: { pattern: "agent", action: "pull" } }
        yield* inlet.call("POST", `/api/domains/${waiting.domainId}/webhooks`, own)
        const unserved = yield* (yield* person(waiting.key)).run("replay", "--held", "--yes")
        assert.match(unserved.stdout, /0 delivered, 1 failed \(1 without a webhook that takes them\)\n$/)
        assert.deepStrictEqual(
          [unserved.code, unserved.stderr],
          [1, "Set a URL with `inlet webhooks update`, then replay again\n"]
        )
        const path = `/api/domains/${waiting.domainId}`
        yield* inlet.call("PATCH", `${path}/delivery`, { key: waiting.key, body: { pull: true } })
        const { env } = yield* person(waiting.key)
        const printed = { stdout: "", stderr: "" }
        yield* sql`UPDATE deliveries SET status = 'held' WHERE domain_id = ${waiting.domainId}`
        const pulled = yield* Effect.forkChild(CommandLine.run(["replay", "--held", "--yes"], env, printed))
        const leased = yield* eventually(
          inlet.call("POST", `${path}/deliveries/lease`, { key: waiting.key, body: {} }),
          ({ json }) => json.deliveries?.length === 1
        )
        assert.match(printed.stderr, /^They wait for `inlet listen --take`\. Ctrl-C ends only this command/)
        const [{ attempt, event_id }] = leased.json.deliveries
        yield* inlet.call("POST", `${path}/deliveries/settle`, {
          key: waiting.key,
          body: { outcomes: [{ event_id, attempt, statusCode: 200, durationMs: 1 }] }
        })
        assert.strictEqual((yield* Fiber.join(pulled)).stdout, "1 held delivery replayed: 1 delivered, 0 failed\n")

        const time = yield* run("replay", "--dead", "--since", "yesterday")
        assert.include(time.stderr, "--since: Expected a duration such as 2d, or a time such as 2026-01-31")
      })
    )

    it.effect("send a replay job to another webhook, list it, show it and stop it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        assert.deepStrictEqual(yield* run("replays", "list"), { code: 0, stdout: "", stderr: "No replay jobs\n" })
        yield* inlet.send({ to: inbox.address })
        yield* Mailbox.accepted(inbox)
        const { webhook } = yield* json("webhooks", "create", inbox.domain, "agent", "--action", "pull")
        const job = yield* json("replay", "--held", "--webhook", "agent", "--yes", "--detach")
        assert.deepInclude(job, { webhook_id: webhook.id, state: "running", total: 1 })
        const list = yield* run("replays", "list")
        assert.match(list.stdout, new RegExp(`^ID\tREPLAYS\tSTATE[^\n]+\n${job.id}\theld\trunning\t1\t[^\n]+\n$`))
        yield* eventually(json("replays", "get", job.id), ({ queued }) => queued === 1)
        const stopped = yield* run("replays", "stop", job.id, "--domain", inbox.domain)
        assert.strictEqual(stopped.stdout, "Stopped. 1 of 1 deliveries were queued, and go on\n")
        assert.strictEqual((yield* json("replays", "get", job.id)).state, "stopped")
      })
    )

    it.effect("manage webhooks by pattern, tell which takes an address, and test one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver.make
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const webhooks = (...args: ReadonlyArray<string>) => run("webhooks", ...args)
        const twice = yield* run("webhooks", "create", inbox.domain, "agent-*", receiver.url, "--to", receiver.url)
        assert.strictEqual(twice.stderr, "--to: The URL is already given after the pattern. Leave one of them out\n")
        const made = yield* json("webhooks", "create", inbox.domain, "agent-*", receiver.url, "--own-secret")
        assert.match(made.webhook_signing_secret, /^whsec_/)
        const mistaken = yield* webhooks("create", inbox.domain, "support", "--url", "http://127.0.0.1:9/hook")
        assert.deepStrictEqual(
          [mistaken.code, mistaken.stderr],
          [1, "--url is the URL of the service, where the key goes. The URL of the webhook is --to\n"]
        )
        yield* webhooks("create", inbox.domain, "noreply", "--action", "reject")
        const listed = yield* webhooks("list", inbox.domain)
        assert.deepStrictEqual(
          listed.stdout
            .trim()
            .split("\n")
            .slice(1)
            .map((line: string) => line.split("\t").slice(1, 3).join(" ")),
          ["noreply reject", "agent-* webhook", "* hold"]
        )
        assert.include(
          (yield* webhooks("match", `agent-7@${inbox.domain}`)).stdout,
          `agent-* takes it: webhook to ${receiver.url}\n`
        )
        assert.match(
          (yield* webhooks("test", inbox.domain, "agent-*")).stdout,
          /^The webhook answered 200 after \d+ ms/
        )
        assert.strictEqual((yield* webhooks("test", inbox.domain)).code, 1)
        const changed = yield* json(
          "webhooks",
          "update",
          inbox.domain,
          "noreply",
          "--pattern",
          "no-*",
          "--action",
          "hold"
        )
        assert.deepInclude(changed.webhook, { pattern: "no-*", action: "hold" })
        assert.strictEqual((yield* webhooks("remove", inbox.domain, "no-*")).code, 1)
        const removed = yield* webhooks("remove", inbox.domain, "no-*", "--yes")
        assert.strictEqual(removed.stdout, "Removed the webhook no-*. Its undelivered mail is held\n")
        const unknown = yield* webhooks("update", inbox.domain, "no-*", "--action", "hold")
        assert.strictEqual(
          unknown.stderr,
          `No webhook no-* in ${inbox.domain}: \`inlet webhooks list ${inbox.domain}\` shows them\n`
        )
      })
    )

    it.effect("allow and block senders, and remove a rule by its id or its sender", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const rule = yield* json("senders", "allow", inbox.domain, "Acme.example")
        yield* json("senders", "block", inbox.domain, "spam@acme.example")
        yield* json("senders", "block", inbox.domain, "acme.example", "--match", "envelope")
        const unsure = yield* run("senders", "remove", inbox.domain, rule.id)
        assert.deepStrictEqual(
          [unsure.code, unsure.stderr],
          [1, "Remove the rule that allows acme.example? There is no terminal to confirm. Add --yes\n"]
        )
        const several = yield* run("senders", "remove", inbox.domain, "acme.example", "--yes")
        assert.match(
          several.stderr,
          /^More than one rule is acme\.example in .*: `inlet senders list .*` shows the ids\n$/
        )
        const none = yield* run("senders", "remove", inbox.domain, "other.example", "--yes")
        assert.match(none.stderr, /^No rule other\.example in /)
        for (const which of [rule.id, "SPAM@acme.example"]) {
          assert.strictEqual((yield* run("senders", "remove", inbox.domain, which, "--yes")).code, 0)
        }
        const shown = yield* run("senders", "allow", inbox.domain, "beta.example")
        assert.match(shown.stdout, /^list +allow$/m)
        assert.notMatch(shown.stdout, /^action/m, "Nothing is held by an allow rule")
        const listed = yield* run("senders", "list", inbox.domain)
        assert.match(listed.stdout, /\tallow\tauthor\tbeta\.example\t-\t/)
        assert.match(listed.stdout, /\tblock\tenvelope\tacme\.example\thold\t/)
        yield* run("senders", "remove", inbox.domain, "beta.example", "--yes")
        const { sender_rules: left } = yield* json("senders", "list", inbox.domain)
        assert.deepStrictEqual(
          left.map((one: { readonly list: string; readonly value: string }) => [one.list, one.value]),
          [["block", "acme.example"]]
        )
      })
    )

    it.effect("name --to for the format of a webhook without its URL", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { run } = yield* person(inbox.key)
        for (const args of [
          ["create", inbox.domain, "agent-*"],
          ["update", inbox.domain, "*"]
        ]) {
          const { code, stderr } = yield* run("webhooks", ...args, "--format", "postmark")
          assert.deepStrictEqual(
            [code, stderr],
            [1, "--format: Give --to URL with it. The URL and its format are set together\n"]
          )
        }
      })
    )

    it.effect("send the options of a raw webhook, and do not repeat them in an error", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver.make
        const inbox = yield* inlet.inbox()
        const { run } = yield* person(inbox.key)
        const set = (raw: string) =>
          run("webhooks", "update", inbox.domain, "*", "--format", "raw", "--to", receiver.url, "--raw", raw)
        const refused = [
          [`{"headers": {"X-API-Key": "a-secret"`, "--raw: Expected a valid JSON string\n"],
          [`{"fields": {"key": "a-secret"}}`, "--raw: fields: Expected it only beside a field\n"],
          [`{"heders": {"X-API-Key": "a-secret"}}`, "--raw: heders: There is no such field\n"]
        ] as const
        for (const [raw, line] of refused) {
          const { code, stderr, stdout } = yield* set(raw)
          assert.deepStrictEqual([code, stderr, stdout], [1, line, ""])
        }
        assert.strictEqual((yield* set(`{"headers": {"X-API-Key": "a-secret"}}`)).code, 0)
        yield* run("webhooks", "test", inbox.domain)
        assert.strictEqual((yield* receiver.next).headers["x-api-key"], "a-secret")
      })
    )

    it.effect("print an attachment byte for byte", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { env } = yield* person(inbox.key)
        yield* Mail.send(inlet.smtpPort, {
          to: inbox.address,
          attachments: [{ filename: "note.txt", content: "remember the milk" }]
        })
        const [event] = yield* Mailbox.events(inbox)
        const { code, stdout } = yield* Program.inletRun(["events", "attachment", event.event_id, "0"], env)
        assert.strictEqual(stdout, "remember the milk")
        assert.strictEqual(code, 0)
      })
    )

    it.effect("buy a name only with --yes and report the order", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { json, run } = yield* person((yield* inlet.workspace).key)
        const search = yield* run("search", "cli-agent", "--tlds", "com")
        assert.match(search.stdout, /^DOMAIN\tAVAILABLE\tPRICE\tREGISTRAR\ncli-agent\.com\tyes\t\$12\.98\tmock\n$/)

        const unsure = yield* run("purchase", "cli-agent.com")
        assert.match(unsure.stderr, /^Buy cli-agent\.com for a year at \$12\.98\? [^\n]+ Add --yes\n$/)
        assert.strictEqual(unsure.code, 1)
        for (const typed of ["CLI-agent.com.", "bücher-agent.com"]) {
          const { stderr } = yield* run("purchase", typed)
          assert.strictEqual(stderr.split(" for ")[0], `Buy ${typed}`)
        }
        assert.strictEqual((yield* run("orders", "list")).stderr, "No orders yet\n")

        const bought = yield* run("purchase", "cli-agent.com", "--yes", "--wait", "60s")
        assert.match(bought.stdout, /^cli-agent\.com for a year at \$12\.98: completed\norder [\da-f-]{36}\n/)
        assert.strictEqual(bought.code, 0)
        const { orders } = yield* json("orders", "list")
        const order = yield* json("orders", "get", orders[0].order_id)
        assert.strictEqual(order.status, "completed")
        assert.match((yield* run("wallet")).stdout, /^balance \$37\.02\n[\s\S]* {2}debit {2}-\$12\.98\n/)
        const twice = yield* run("purchase", "cli-agent.com", "--yes")
        assert.match(twice.stderr, /^[^\n]+\n$/)
        assert.strictEqual(twice.code, 1)
        const sql = yield* SqlClient.SqlClient
        const keys = yield* sql<{ readonly key: string }>`
          SELECT key FROM idempotency_keys WHERE route = 'POST /api/domains/purchase' ORDER BY begun_at
        `
        assert.strictEqual(new Set(keys.map(({ key }) => key)).size, 2)
        // As after a lost answer.
        const again = yield* run("purchase", "cli-agent.com", "--yes", "--idempotency-key", keys[0]?.key ?? "")
        assert.strictEqual(again.stdout, bought.stdout)
        assert.lengthOf((yield* json("orders", "list")).orders, 1)
        assert.strictEqual((yield* run("domains", "remove", "cli-agent.com", "--yes")).code, 0)
        const added = yield* run("domains", "add", "cli-agent.com")
        assert.match(added.stdout, /^origin\s+purchased$/m)
        assert.match(added.stderr, /^The workspace has bought it\. Inlet publishes its records and verifies it/)
      })
    )

    it.effect("add an own domain, wait for its TXT record until the timeout, and remove it with --yes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { json, run } = yield* person((yield* inlet.workspace).key)
        const added = yield* json("domains", "add", "own.example")
        assert.match(added.txt_value, /^service_verify_/)
        const missing = yield* run("domains", "verify", "own.example")
        assert.match(missing.stderr, /^[^\n]*_service-verify\.own\.example[^\n]*\n$/)
        assert.strictEqual(missing.code, 1)
        const late = yield* run("domains", "verify", "own.example", "--wait", "1s")
        assert.match(late.stderr, / after 1s\n$/)
        assert.strictEqual(late.code, 4)
        assert.match(
          (yield* run("domains", "mx", "own.example")).stdout,
          /^Publish {3}own\.example {2}MX {2}10 \S+\n(?:DNS has .+\n)*DNS does not have the record yet\n$/
        )
        assert.strictEqual((yield* json("domains", "get", added.id)).status, "pending_verification")

        const unsure = yield* run("domains", "remove", "own.example")
        assert.match(unsure.stderr, /^Remove own\.example with [^\n]+ Add --yes\n$/)
        assert.strictEqual(unsure.code, 1)
        const removed = yield* run("domains", "remove", "own.example", "--yes")
        assert.strictEqual(removed.stdout, "Removed own.example and its mail\n")
        assert.strictEqual((yield* run("domains", "list")).stderr, "No domains yet\n")
      })
    )

    it.effect("list many domains a page at a time, and find one of them by name, id or event", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key, name } = yield* ManyDomains.workspaceWith(105)
        const { json, run } = yield* person(key)
        const page = yield* run("domains", "list", "--limit", "2", "--search", name)
        assert.match(page.stdout, new RegExp(`^DOMAIN[^\n]+\n105\\.${name}[^\n]+\n104\\.${name}[^\n]+\n$`))
        const [, cursor = ""] = /^More with --cursor (\S+)\n$/.exec(page.stderr) ?? []
        const next = yield* json("domains", "list", "--limit", "1", "--cursor", cursor)
        assert.strictEqual(next.domains[0].domain, `103.${name}`)

        const oldest = yield* json("domains", "get", `1.${name.toUpperCase()}.`)
        assert.deepStrictEqual(yield* json("domains", "get", oldest.id.toUpperCase()), oldest)
        const [to] = [`box@1.${name}`]
        yield* Mail.send(inlet.smtpPort, { to, subject: "Oldest", text: "Hi" })
        // The only domain that takes mail.
        const { event } = yield* json("wait", "--newer-than", "5m")
        assert.strictEqual((yield* json("events", "get", event.event_id)).recipient, to)
        const unknown = yield* run("domains", "get", "nowhere.example")
        assert.match(
          unknown.stderr,
          /^No domain nowhere\.example in this workspace\. It has (?:\S+, ){10}… \(`inlet domains list` tells all\)\n$/
        )
      })
    )

    it.effect("switch a domain to pull delivery and back, and refuse pull beside a webhook", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const status = Effect.map(json("events", "list"), ({ events }) => events[0].delivery)
        const pulled = yield* run("domains", "pull", inbox.domain)
        assert.match(pulled.stdout, /^pull +true$/m)
        assert.strictEqual(pulled.code, 0)
        yield* inlet.send({ to: inbox.address })
        yield* json("wait", "--newer-than", "5m")
        assert.strictEqual(yield* status, "pending")

        assert.isFalse((yield* json("domains", "pull", inbox.domainId, "--off")).pull)
        assert.strictEqual(yield* status, "held")

        yield* json("domains", "webhook", inbox.domain, "http://127.0.0.1:9/nobody")
        const refused = yield* run("domains", "pull", inbox.domain)
        assert.match(refused.stderr, /^This domain has a webhook[^\n]+\n$/)
        assert.strictEqual(refused.code, 1)
      })
    )

    it.effect("simulate a sample, a mail from flags and a raw message, and print each event_id", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const fs = yield* FileSystem.FileSystem
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const sample = yield* run("simulate", "--domain", inbox.domain, "--wait", "60s")
        assert.strictEqual(sample.code, 0, sample.stderr)
        const code = yield* json("events", "get", sample.stdout.trim())
        assert.strictEqual(code.extracted.code.value, "482913")

        const to = `agent+1@${inbox.domain}`
        const said = yield* json("simulate", "--to", to, "--subject", "Hello", "--text", "Hi", "--wait", "60s")
        assert.deepStrictEqual([said.events[0].recipient, said.events[0].subject], [to, "Hello"])

        const folder = yield* fs.makeTempDirectoryScoped()
        const message = "From: ada@sender.example\r\nSubject: whole\r\nX-Own: kept\r\n\r\nbody\r\n"
        yield* fs.writeFileString(`${folder}/mail.eml`, message)
        const whole = yield* run("simulate", "--file", `${folder}/mail.eml`, "--wait", "60s")
        assert.isTrue((yield* Mailbox.raw(inbox, whole.stdout.trim())).endsWith(message), whole.stderr)
        const both = yield* run("simulate", "--file", `${folder}/mail.eml`, "--sample", "code")
        assert.strictEqual(both.stderr, "--file: Expected no --sample, --subject, --text or --dmarc beside it\n")
        assert.strictEqual(both.code, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("refuse a verdict for a whole message, and say how to give one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const fs = yield* FileSystem.FileSystem
        const { run } = yield* person((yield* inlet.workspace).key)
        const file = yield* fs.makeTempFileScoped()
        const refused = yield* run("simulate", "--file", file, "--dmarc", "pass")
        assert.strictEqual(
          refused.stderr,
          "--dmarc: Expected no --file beside it, because a whole message always has the verdict none. Give --from, --subject and --text instead of --file\n"
        )
        assert.strictEqual(refused.code, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("tell why a simulated mail is held, and which command delivers it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { run } = yield* person(inbox.key)
        const simulate = run("simulate", "--domain", inbox.domain, "--from", "eve@stranger.example", "--wait", "60s")
        const plain = yield* simulate
        assert.strictEqual(
          plain.stderr,
          `Held, because no webhook takes it, or its webhook holds mail. Set one with \`inlet domains webhook ${inbox.domain} URL\`, then \`inlet replay ${plain.stdout.trim()}\` delivers it, or to another webhook with --webhook ID\n`
        )
        yield* run("senders", "allow", inbox.domain, "partner.example")
        const held = yield* simulate
        const eventId = held.stdout.trim()
        assert.strictEqual(
          held.stderr,
          `Held, because no sender rule allows it. \`inlet senders release ${inbox.domain} ${eventId}\` delivers it\n`
        )
        const refused = yield* run("senders", "release", inbox.domain, eventId, "--allow")
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "simulate it again with `inlet simulate --dmarc pass`")
        assert.strictEqual((yield* run("senders", "release", inbox.domain, eventId)).code, 0)

        const eve = ["--from", "eve@stranger.example", "--subject", "again", "--dmarc", "pass", "--wait", "60s"]
        const confirmed = (yield* run("simulate", "--domain", inbox.domain, ...eve)).stdout.trim()
        assert.strictEqual((yield* run("senders", "release", inbox.domain, confirmed, "--allow")).code, 0)
      })
    )

    it.effect("create a key for the mail of a pattern or a domain, and list what it sees", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const made = yield* json("keys", "create", "--pattern", "agent-7")
        const ofDomain = yield* json("keys", "create", "--domain", inbox.domain, "--pattern", "agent-*")
        const { stdout } = yield* run("keys")
        assert.match(stdout, new RegExp(`^${made.id}\tread\tagent-7\t`, "m"))
        assert.match(stdout, new RegExp(`^${ofDomain.id}\tread\tagent-\\* of ${inbox.domain}\t`, "m"))
        yield* Mail.send(inlet.smtpPort, { to: `agent-7@${inbox.domain}`, text: "Your verification code is 739204." })
        yield* Mail.send(inlet.smtpPort, { to: `agent-8@${inbox.domain}`, text: "Your verification code is 111111." })
        yield* Mailbox.events(inbox)
        const reader = yield* person(made.api_key)
        const list = yield* reader.run("events", "list")
        assert.include(list.stdout, "agent-7")
        assert.notInclude(list.stdout, "agent-8")
        const code = yield* reader.run("wait", "--code", "--newer-than", "5m")
        assert.strictEqual(code.stdout, "739204\n")
        const bad = yield* run("keys", "create", "--pattern", "a@b.example")
        assert.match(bad.stderr, /Expected the part of an address before the @/)
      })
    )

    it.effect("create an ingest key for a domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        const made = yield* json("keys", "create", "--scope", "ingest", "--domain", inbox.domain)
        assert.match(made.api_key, /^ak_ingest_/)
        assert.match((yield* run("keys")).stdout, new RegExp(`^${made.id}\tingest\t${inbox.domain}\t`, "m"))
        const relay = yield* person(made.api_key)
        assert.match((yield* relay.run("domains", "list")).stderr, /^An ingest key [^\n]+\n$/)
      })
    )

    it.effect("create and list a read key, and revoke it only with --yes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, run } = yield* person(inbox.key)
        assert.strictEqual((yield* run("keys")).stderr, "No keys beside the workspace's own\n")
        const made = yield* json("keys", "create", "--scope", "read", "--name", "my agent")
        const reader = yield* person(made.api_key)
        assert.strictEqual((yield* reader.run("domains", "list")).code, 0)
        const refused = yield* reader.run("domains", "remove", inbox.domain, "--yes")
        assert.match(
          refused.stderr,
          /^A read key [^\n]+ `inlet domains remove DOMAIN` requires the workspace's own key, [^\n]+\n$/
        )
        assert.strictEqual(refused.code, 1)

        const list = yield* run("keys")
        const row = new RegExp(`^${made.id}\tread\t-\t${made.begins}…\t[^\t]+\t[^\t]+\tmy agent$`, "m")
        assert.match(list.stdout, row)
        const unsure = yield* run("keys", "revoke", made.id)
        assert.match(unsure.stderr, /^Revoke the key my agent \(ak_read_[\w-]{4}…\)\? [^\n]+ Add --yes\n$/)
        assert.strictEqual(unsure.code, 1)
        const revoked = yield* run("keys", "revoke", made.id, "--yes")
        assert.strictEqual(revoked.stdout, `Revoked the key my agent (${made.begins}…)\n`)
        assert.match((yield* reader.run("domains", "list")).stderr, /it was revoked/)
        const gone = yield* run("keys", "revoke", made.id, "--yes")
        assert.strictEqual(gone.stderr, `No key ${made.id} in this workspace: \`inlet keys\` lists them\n`)
        assert.strictEqual(gone.code, 1)
      })
    )

    it.effect(
      "ask for confirmation at a terminal before a removal",
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const { domain, key } = yield* inlet.inbox()
          const { env, run } = yield* person(key)
          const answering = Effect.fnUntraced(function* (answer: string) {
            const command = `${process.execPath} ${yield* Program.script} domains remove ${domain}`
            const terminal = yield* Program.start("script", ["-qec", command, "/dev/null"], { env })
            yield* terminal.says(`Remove ${domain} with its messages`)
            yield* terminal.type(answer)
            return { code: yield* terminal.exitCode, printed: yield* terminal.printed }
          }, Effect.scoped)
          const no = yield* answering("n")
          assert.include(no.printed, "Nothing was done")
          assert.strictEqual(no.code, 1)
          const yes = yield* answering("y")
          assert.include(yes.printed, `Removed ${domain} and its mail`)
          assert.strictEqual(yes.code, 0)
          assert.strictEqual((yield* run("domains", "list")).stderr, "No domains yet\n")
        }),
      Needs.options(Needs.limits)
    )

    it.effect("store URL and key in a profile with mode 600, and send the key to no other URL", () =>
      Effect.gen(function* () {
        const { url } = yield* TestInlet
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const { run } = yield* person(undefined, { XDG_CONFIG_HOME: folder })
        assert.strictEqual(
          (yield* run("profiles", "save", "mine", "--key", "ak_live_half")).stderr,
          "--key: Expected a whole API key, which begins with ak_\n"
        )
        const created = yield* run("workspaces", "create", "kept", "--save", "mine")
        assert.strictEqual(created.code, 0)
        assert.notInclude(created.stdout, "ak_live_")
        assert.include(created.stdout, "whsec_")
        const again = yield* run("workspaces", "create", "lost", "--save", "mine")
        assert.deepStrictEqual([again.code, again.stdout], [1, ""])
        assert.match(again.stderr, /^--save: The profile mine exists\. Choose another name, [^\n]+\n$/)
        const { mode } = yield* fs.stat(`${folder}/inlet/profiles.json`)
        assert.strictEqual(mode & 0o777, 0o600)
        assert.strictEqual((yield* run("profiles", "list")).stdout, `NAME\tURL\nmine\t${url}\n`)

        const away = yield* person("ak_live_of_another_place", {
          XDG_CONFIG_HOME: folder,
          INLET_URL: "http://127.0.0.1:9",
          INLET_PROFILE: "mine"
        })
        assert.strictEqual((yield* away.json("workspaces", "get")).name, "kept")
        assert.strictEqual((yield* away.json("workspaces", "get", "--url", `${url}/`)).name, "kept")
        const elsewhere = yield* away.run("workspaces", "get", "--url", "http://127.0.0.1:9")
        assert.match(elsewhere.stderr, /^--key: Expected the API key [^\n]+\n$/)
        const none = yield* run("workspaces", "get", "--profile", "yours")
        assert.strictEqual(none.stderr, "No profile yours; there are mine\n")
        assert.strictEqual(none.code, 1)
        const rotated = yield* away.run("workspaces", "rotate-key", "--yes")
        assert.strictEqual(rotated.stderr, "The profile mine has the new one\n")
        assert.strictEqual((yield* away.json("workspaces", "get")).name, "kept")
        assert.strictEqual((yield* run("profiles", "remove", "mine")).stdout, "Removed mine\n")
        const without = yield* run("workspaces", "get")
        assert.match(without.stderr, /^--key: Expected the API key [^\n]+\n$/)
        assert.strictEqual(without.code, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("print a new key or secret that cannot be stored in its profile, and say so", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const env = { XDG_CONFIG_HOME: folder }
        const { run } = yield* person(undefined, env)
        assert.strictEqual((yield* run("workspaces", "create", "kept", "--save", "mine")).code, 0)
        // No file can be written there.
        yield* fs.makeDirectory(`${folder}/inlet/profiles.json.new`)
        const lost = yield* run("workspaces", "create", "lost", "--save", "yours")
        assert.match(lost.stdout, /ak_live_/)
        assert.match(lost.stderr, /^--save: The key above was not saved as the profile yours\. [^\n]+\n$/)
        assert.strictEqual(lost.code, 1)

        const mine = yield* person(undefined, { ...env, INLET_PROFILE: "mine" })
        const read = yield* mine.run("keys", "create", "--save", "reader", "--json")
        assert.match(JSON.parse(read.stdout).api_key, /^ak_read_/)
        assert.match(read.stderr, /^--save: The key above was not saved as the profile reader\. [^\n]+\n$/)
        const secret = yield* mine.run("workspaces", "rotate-secret", "--yes")
        assert.match(secret.stdout, /whsec_/)
        assert.match(secret.stderr, /^The profile mine still has the old one\. [^\n]+\n$/)
        assert.strictEqual(secret.code, 1)
        const rotated = yield* mine.run("workspaces", "rotate-key", "--yes", "--json")
        assert.strictEqual(rotated.code, 1)
        const { api_key } = JSON.parse(rotated.stdout)
        const anew = yield* person(api_key)
        assert.strictEqual((yield* anew.json("workspaces", "get")).name, "kept")
      }).pipe(Effect.scoped)
    )
  }
)
