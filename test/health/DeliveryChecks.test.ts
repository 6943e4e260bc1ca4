import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as DeliveryChecks from "../../src/health/DeliveryChecks.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { Webhook, WebhookId } from "../../src/model/Webhook.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const id = WebhookId.make("01981c9e-0000-7000-8000-000000000002")
const time = DateTime.makeUnsafe("2026-01-31T12:00:00Z")

const webhook = (fields: Partial<Webhook>) =>
  new Webhook({
    id,
    domain_id: domainId,
    pattern: "agent-*",
    action: "webhook",
    webhookUrl: "https://agents.example/?token=secret",
    format: "inlet",
    basicAuth: false,
    description: null,
    kinds: {},
    has_own_secret: false,
    created_at: time,
    failing_since: null,
    paused_at: null,
    ...fields
  })

const health = {
  attempts: 0,
  failed: 0,
  p50_ms: null,
  p99_ms: null,
  last_success_at: null,
  last_failure_at: null,
  last_error: null,
  failing_since: null,
  paused_at: null,
  next_probe_at: null,
  pending: 0,
  dead: 0,
  held: 0
}

describe("The check of the webhooks for some addresses", () => {
  it("is one line if all of them work, and none without any", () => {
    assert.deepStrictEqual(DeliveryChecks.others([webhook({ pattern: "*" })]), [])
    const [check, ...rest] = DeliveryChecks.others([webhook({}), webhook({ pattern: "*" })])
    assert.deepInclude(check, { status: "ok", message: "1 webhook takes the mail of some addresses", remedy: null })
    assert.isEmpty(rest)
  })

  it("names each that fails, is paused or holds mail, with what to do, and no part of its URL", () => {
    const checks = DeliveryChecks.others([
      webhook({ pattern: "works" }),
      webhook({ pattern: "fails", failing_since: time }),
      webhook({ pattern: "paused", failing_since: time, paused_at: time }),
      webhook({ pattern: "holds", action: "hold", webhookUrl: null }),
      webhook({ pattern: "rejects", action: "reject", webhookUrl: null })
    ])
    assert.deepStrictEqual(
      checks.map(({ message, status }) => [status, message]),
      [
        ["error", "The webhook fails has failed every request since 2026-01-31T12:00:00Z"],
        [
          "error",
          "The webhook paused is paused since 2026-01-31T12:00:00Z, and has failed every request since 2026-01-31T12:00:00Z"
        ],
        ["warning", "The webhook holds holds its mail"]
      ]
    )
    for (const { remedy } of checks) assert.include(remedy ?? "", `/api/domains/${domainId}/webhooks/${id}`)
    assert.notInclude(JSON.stringify(checks), "secret")
  })

  it("of a catch-all that rejects is no warning", () => {
    const domain = { id: domainId, catch_all: "reject", pull: false, webhookUrl: null } as const
    assert.deepInclude(
      DeliveryChecks.webhook(domain, { health, failing: null, lastStatus: null, attemptsCut: false, deadCut: false }),
      { status: "ok" }
    )
  })

  it("of the catch-all names no success while dead letters of the domain were left out", () => {
    const domain = { id: domainId, catch_all: "webhook", pull: false, webhookUrl: "https://all.example/hook" } as const
    const { message, status } = DeliveryChecks.webhook(domain, {
      health,
      failing: null,
      lastStatus: null,
      attemptsCut: true,
      deadCut: true
    })
    assert.strictEqual(status, "warning")
    assert.strictEqual(
      message,
      "The domain has 10,000 dead letters or more. None of the 10,000 that were counted is of the webhook at all.example"
    )
  })
})
