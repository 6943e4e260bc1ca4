import { readFileSync } from "node:fs"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NotFoundPage from "../../src/http/pages/NotFoundPage.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const operator = { key: "the operator's token" }

const change = Effect.fnUntraced(function* (name: string, what: "disable" | "enable") {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", `/admin/domains/${name}/${what}`, operator)
})

/** The record of a domain, as lists have it. */
const statusOf = Effect.fnUntraced(function* ({ domainId, key }: Mailbox.Inbox) {
  const inlet = yield* TestInlet
  const { webhook_failing: _, ...domain } = (yield* inlet.call("GET", `/api/domains/${domainId}`, { key })).json
  return domain
})

/** A new workspace that has registered the name, verified or not. */
const registered = Effect.fnUntraced(function* (name: string, { verified }: { readonly verified: boolean }) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { key } = yield* inlet.workspace
  const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
  if (verified) {
    yield* sql`UPDATE domains SET status = 'mx_pending', verified_at = now() WHERE id = ${json.id}`
  }
  return { key, domainId: json.id as string }
})

const idsOf = ({ json }: Answer) => json.domains.map(({ id }: { readonly id: string }) => id).toSorted()

describe("The operator routes", () => {
  layer(
    Layer.merge(TestInlet.layer({ ADMIN_TOKEN: operator.key, WEBHOOK_RETRY_DELAYS: "1h" }), WebhookReceiver.layer),
    { excludeTestServices: true }
  )("with ADMIN_TOKEN", (it) => {
    it.effect("do not exist without the token", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const path = `/admin/domains/${inbox.domain}`
        for (const key of [
          undefined,
          "",
          operator.key.slice(0, -1),
          `${operator.key}x`,
          operator.key.toUpperCase(),
          inbox.key
        ]) {
          for (const answer of [
            yield* inlet.call("GET", "/admin/domains", { key }),
            yield* inlet.call("POST", `${path}/disable`, { key }),
            yield* inlet.call("POST", `${path}/enable`, { key })
          ]) {
            assert.strictEqual(answer.status, 404)
            assert.deepStrictEqual(answer.json, { error: NotFoundPage.noRoute })
            assert.notProperty(answer.headers, "www-authenticate")
          }
        }
        assert.strictEqual((yield* statusOf(inbox)).status, "verified")
      })
    )

    it.effect("do not accept the token as a workspace key", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        assert.strictEqual((yield* inlet.call("GET", "/api/domains", operator)).status, 401)
      })
    )

    it.effect("list the domains of every workspace, newest first", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const first = yield* inlet.inbox()
        const second = yield* inlet.inbox()
        const { json, status } = yield* inlet.call("GET", "/admin/domains", operator)
        assert.strictEqual(status, 200)
        const [newest, older] = json.domains
        assert.strictEqual(newest.id, second.domainId)
        assert.strictEqual(older.id, first.domainId)
        const { held_by_another, workspace, workspace_id, ...domain } = newest
        assert.deepStrictEqual(domain, yield* statusOf(second))
        const { json: holder } = yield* inlet.call("GET", "/api/workspace", { key: second.key })
        assert.deepStrictEqual([held_by_another, workspace, workspace_id], [false, holder.name, holder.workspace_id])
      })
    )

    it.effect("disable a domain in any state, and restore that state", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const pending = yield* registered("pending.example.com", { verified: false })
        const waiting = yield* registered("waiting.example.com", { verified: true })
        const live = yield* registered("live.example.com", { verified: true })
        yield* sql`UPDATE domains SET status = 'live', live_at = now() WHERE id = ${live.domainId}`
        const instant = yield* inlet.inbox()

        for (const inbox of [pending, waiting, live, instant]) {
          const before = yield* statusOf(inbox)
          const disabled = yield* change(before.domain, "disable")
          assert.strictEqual(disabled.status, 200)
          const expected = { ...before, status: "disabled", disabled_reason: "disabled by the operator" }
          assert.deepStrictEqual(disabled.json, { domains: [expected] })
          assert.deepStrictEqual(yield* statusOf(inbox), expected)

          // Disabling twice keeps the earlier status.
          assert.strictEqual((yield* change(before.domain, "disable")).status, 200)
          const enabled = yield* change(before.domain, "enable")
          assert.strictEqual(enabled.status, 200)
          assert.deepStrictEqual(enabled.json, { domains: [before] })
          assert.deepStrictEqual((yield* change(before.domain, "enable")).json, { domains: [before] })
          assert.deepStrictEqual(yield* statusOf(inbox), before)
        }
      })
    )

    it.effect("address the row that holds the name, or else every pending one", () =>
      Effect.gen(function* () {
        const one = yield* registered("several.example.com", { verified: false })
        const two = yield* registered("several.example.com", { verified: false })
        const all = yield* change("several.example.com", "disable")
        assert.deepStrictEqual(idsOf(all), [one.domainId, two.domainId].toSorted())
        assert.deepStrictEqual(idsOf(yield* change("several.example.com", "enable")), idsOf(all))

        const holder = yield* registered("one-holder.example.com", { verified: true })
        const rival = yield* registered("one-holder.example.com", { verified: false })
        const held = yield* change("one-holder.example.com", "disable")
        assert.deepStrictEqual(idsOf(held), [holder.domainId])
        assert.strictEqual((yield* statusOf(rival)).status, "pending_verification")
      })
    )

    it.effect("accept any spelling of a name, and answer 400 to an invalid and 404 to an unknown one", () =>
      Effect.gen(function* () {
        const inbox = yield* registered("bücher.example.com", { verified: true })
        assert.strictEqual((yield* change("B%C3%9CCHER.example.com.", "disable")).status, 200)
        assert.strictEqual((yield* statusOf(inbox)).status, "disabled")
        assert.strictEqual((yield* change("xn--bcher-kva.example.com", "enable")).status, 200)

        const invalid = yield* change("localhost", "disable")
        assert.strictEqual(invalid.status, 400)
        assert.match(invalid.json.error, /^domain: Expected /)
        for (const what of ["disable", "enable"] as const) {
          const unknown = yield* change("nobody.example.com", what)
          assert.strictEqual(unknown.status, 404)
          assert.deepStrictEqual(Object.keys(unknown.json), ["error"])
        }
        // There is nothing to change.
        assert.strictEqual((yield* change("bücher.example.com", "enable")).status, 200)
      })
    )

    it.effect("make a disabled domain refuse mail and answer 409 to state changes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        yield* Mail.send(inlet.smtpPort, { to: inbox.address })
        const [event] = yield* Mailbox.events(inbox)
        yield* change(inbox.domain, "disable")

        assert.strictEqual((yield* Effect.flip(Mail.send(inlet.smtpPort, { to: inbox.address }))).code, 550)
        const path = `/api/domains/${inbox.domainId}`
        for (const [method, route, body] of [
          ["POST", "/verify", undefined],
          ["PATCH", "/delivery", { webhookUrl: "https://example.com/" }],
          ["PATCH", "/delivery", { webhookUrl: null }],
          ["POST", `/events/${event.event_id}/replay`, undefined]
        ] as const) {
          const { json, status } = yield* inlet.call(method, `${path}${route}`, { key: inbox.key, body })
          assert.strictEqual(status, 409, route)
          assert.match(json.error, /disabled/)
        }
        // The domain can still be read and removed.
        assert.lengthOf(yield* Mailbox.events(inbox), 1)
        assert.strictEqual((yield* inlet.call("GET", `${path}/mx`, { key: inbox.key })).status, 200)

        yield* change(inbox.domain, "enable")
        assert.match(yield* Mail.send(inlet.smtpPort, { to: inbox.address }), /^250/)
      })
    )

    it.effect("pause the deliveries of a disabled domain until it is enabled", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* WebhookReceiver
        const inbox = yield* inlet.inbox(receiver.url)
        yield* receiver.answerWith(500)
        yield* Mail.send(inlet.smtpPort, { to: inbox.address })
        yield* receiver.next
        yield* eventually(Mailbox.events(inbox), ([event]) => event?.delivery.lastError !== null)

        yield* change(inbox.domain, "disable")
        yield* sql`UPDATE deliveries SET due_at = now() - interval '1 hour' WHERE domain_id = ${inbox.domainId}`
        // Mail of another inbox is delivered meanwhile, so the worker has claimed and skipped this one.
        const other = yield* inlet.inbox(receiver.url)
        yield* Mail.send(inlet.smtpPort, { to: other.address })
        assert.strictEqual((yield* receiver.next).event.domain, other.domain)
        const [paused] = yield* Mailbox.events(inbox)
        assert.strictEqual(paused.delivery.status, "pending")
        assert.strictEqual(paused.delivery.attempts, 1)

        yield* change(inbox.domain, "enable")
        assert.strictEqual((yield* receiver.next).event.domain, inbox.domain)
      })
    )
  })

  layer(TestInlet.layer(), { excludeTestServices: true })("in development", (it) => {
    it.effect("accept the token in DATA_DIR, whose file only its owner can read", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const key = readFileSync(`${inlet.folder}/admin-token`, "utf8").trim()
        assert.isAtLeast(key.length, 40)
        assert.strictEqual((yield* inlet.call("GET", "/admin/domains", { key })).status, 200)
        assert.strictEqual((yield* inlet.call("GET", "/admin/domains", { key: "" })).status, 404)
      })
    )
  })
})
