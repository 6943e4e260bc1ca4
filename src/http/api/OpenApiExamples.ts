import type { InboundEvent } from "../../model/InboundEvent.ts"
import type { OperationalEvent } from "../../model/OperationalEvent.ts"

const eventId = "019b76da-a800-7000-8000-000000000003"
const domainId = "019b76da-a800-7000-8000-000000000001"
const emailId = "019b76da-a800-7000-8000-000000000002"
const time = "2026-01-31T12:00:00.000Z"

/** The payload of a webhook request. */
export const event = {
  event: "inbound.email.received",
  event_id: eventId,
  inbound_email_id: emailId,
  idempotency_key: "5f0c5e1e8b1f6a3c7d2e4b9a8c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d",
  message_id: "<verify-1@app.example>",
  domain: "brave-otter.inbox.example.com",
  recipient: "agent-7@brave-otter.inbox.example.com",
  from: "no-reply@app.example",
  subject: "Your code is 482913",
  text: "Your code is 482913\n",
  html: null,
  attachments: [],
  receivedAt: time,
  rawRef: `inbound/${domainId}/${emailId}.eml`,
  authentication: { spf: "pass", dkim: "pass", dmarc: "pass", arc: "none" },
  envelope: { from: "bounce@app.example", helo: "mail.app.example", remoteAddress: "203.0.113.9" },
  headers: [
    { name: "From", value: "App <no-reply@app.example>" },
    { name: "Subject", value: "Your code is 482913" }
  ],
  to: [{ name: "", address: "agent-7@brave-otter.inbox.example.com" }],
  cc: [],
  replyTo: [],
  inReplyTo: null,
  references: [],
  parse: "full",
  fromName: "App",
  reply: null,
  sender: "auto",
  kind: { type: "bulk" },
  tag: null,
  threadId: "9e2f4a36-5c1d-8b7a-9f00-3d2c1b0a9f8e",
  hiddenText: false,
  extracted: {
    code: { value: "482913", shown: "482913", source: "text", confidence: "high" },
    links: [],
    unsubscribe: null
  },
  webhook_id: domainId,
  pattern: "*",
  hiddenTextVerdict: "none",
  textMatchesHtml: null,
  invisibleCharacters: 0,
  trust: { aligned: true, rule: null, reasons: ["dmarc_pass"] },
  spam: {
    verdict: "clean",
    score: 1.2,
    required: 15,
    symbols: [
      { name: "MIME_GOOD", score: -0.1 },
      { name: "R_DKIM_ALLOW", score: -0.2 }
    ],
    virus: null
  }
} satisfies Record<keyof InboundEvent, unknown>

/** The payload of an operational webhook request. */
export const operationalEvent = {
  type: "webhook.paused",
  event: "operational",
  event_id: "019b76da-a800-7000-8000-000000000007",
  workspace_id: "019b76da-a800-7000-8000-000000000008",
  occurred_at: time,
  message:
    'The webhook of example.com is paused, because every attempt failed for days. 62 deliveries wait. Repair the endpoint, then resume it with PATCH /api/domains/{id}/webhooks/{webhookId} {"action": "webhook"}. Inlet tries one delivery an hour meanwhile',
  domain_id: domainId,
  domain: "example.com",
  webhook_id: domainId,
  pattern: "*",
  failing_since: "2026-01-26T12:00:00.000Z",
  last_error: "the webhook answered 503",
  waiting: 62
} satisfies Record<keyof (OperationalEvent & { readonly type: "webhook.paused" }), unknown>

const delivery = { status: "delivered", attempts: 1, nextAttemptAt: null, deliveredAt: time, lastError: null }

const domain = {
  id: domainId,
  domain: "example.com",
  origin: "byo",
  status: "pending_verification",
  disabled_reason: null,
  txt_name: "_service-verify.example.com",
  txt_value: "service_verify_0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  mx_target: "mx.inlet.example.com",
  webhookUrl: null,
  webhookFormat: "inlet",
  webhookBasicAuth: false,
  webhook_paused_at: null,
  pull: false,
  catch_all: "hold",
  spam: "tag",
  created_at: time,
  verified_at: null,
  live_at: null
}

const order = {
  order_id: "019b76da-a800-7000-8000-000000000004",
  domain: "example.com",
  years: 1,
  registrar: "mock",
  price_cents: 1298,
  currency: "USD",
  domain_id: domainId,
  checkout_url: null,
  failure: null,
  next_steps: ["Set the webhook with PATCH /api/domains/{id}/delivery"],
  created_at: time,
  status: "completed"
}

const key = {
  id: "019b76da-a800-7000-8000-000000000005",
  scope: "read",
  name: "my agent",
  begins: "ak_read_5f0c",
  pattern: "agent-7",
  domain_id: null,
  created_at: time,
  last_used_at: null
}

const replay = {
  id: "019b76da-a800-7000-8000-000000000006",
  status: "dead",
  since: "2026-01-29T12:00:00.000Z",
  until: null,
  recipient: null,
  webhook_id: null,
  state: "running",
  total: 1240,
  queued: 62,
  delivered: 58,
  failed: 0,
  unserved: 0,
  created_at: time,
  finished_at: null
}

const webhook = {
  id: "019b76da-a800-7000-8000-000000000009",
  domain_id: domainId,
  pattern: "agent-*",
  action: "webhook",
  webhookUrl: "https://agent.example/inbound",
  format: "inlet",
  description: "the agents",
  basicAuth: false,
  kinds: {},
  has_own_secret: false,
  created_at: time,
  failing_since: null,
  paused_at: null
}

const catchAll = { ...webhook, id: domainId, pattern: "*", action: "reject", webhookUrl: null, description: null }

/** Request bodies, by operation. */
export const requests: Readonly<Record<string, unknown>> = {
  "workspaces.create": { name: "my agent" },
  "workspaces.createKey": { scope: "read", name: "my agent", pattern: "agent-7" },
  "workspaces.update": { opsWebhookUrl: "https://agent.example/operations" },
  "domains.create": { domain: "example.com" },
  "domains.delivery": { webhookUrl: "https://agent.example/inbound" },
  "webhooks.create": { pattern: "agent-*", webhookUrl: "https://agent.example/inbound" },
  "webhooks.update": { action: "reject" },
  "deliveries.lease": { limit: 16, wait: 50 },
  "deliveries.settle": {
    outcomes: [{ event_id: eventId, attempt: 1, statusCode: 200, durationMs: 12, responseBody: "ok" }]
  },
  "replays.start": { status: "dead", since: "2026-01-29T12:00:00Z" },
  "simulate.simulate": { sample: "code" },
  "demo.simulate": { sample: "code" },
  "purchase.buy": { domain: "example.com", years: 1 }
}

/** Answer bodies, by operation and status. */
export const answers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "workspaces.createKey": { 201: { ...key, api_key: `${key.begins}${"…".repeat(3)}` } },
  "operations.list": {
    200: {
      operational_events: [
        {
          event: operationalEvent,
          delivery: { status: "delivered", attempts: 1, next_attempt_at: null, delivered_at: time, last_error: null }
        }
      ],
      next_cursor: null
    }
  },
  "workspaces.listKeys": { 200: { keys: [{ ...key, last_used_at: time }] } },
  "domains.instantInbox": {
    201: {
      address: "inbox@brave-otter.inbox.example.com",
      domain_id: domainId,
      domain: "brave-otter.inbox.example.com",
      existing: false
    }
  },
  "domains.create": { 201: domain },
  "domains.list": { 200: { domains: [domain], next_cursor: null } },
  "domains.get": { 200: { ...domain, webhook_failing: null } },
  "domains.verify": { 200: { ...domain, status: "mx_pending", verified_at: time } },
  "webhooks.list": { 200: { webhooks: [webhook, catchAll] } },
  "webhooks.create": { 201: { webhook } },
  "webhooks.match": {
    200: {
      recipient: "agent-7@example.com",
      webhook,
      others: [{ webhook_id: domainId, pattern: "*", reason: "agent-* is more exact than the catch-all" }]
    }
  },
  "webhooks.get": { 200: webhook },
  "webhooks.update": { 200: { webhook: { ...webhook, action: "reject", webhookUrl: null } } },
  "events.list": {
    200: { events: [{ ...event, delivery }], next_cursor: null, cursor_now: "AAAAAAAAAAAAB9RbnFnz" }
  },
  "deliveries.settle": { 200: { outcomes: [{ event_id: eventId, attempt: 1, status: 200, delivery, error: null }] } },
  "events.get": { 200: { ...event, delivery } },
  "events.find": { 200: { ...event, domain_id: domainId, delivery } },
  "events.content": {
    200: {
      format: "markdown",
      content: "Your code is 482913. [Confirm it here][1].",
      length: 42,
      next_offset: null,
      tokens_estimate: 11,
      hidden: { words: 0, excerpt: null },
      uncertain: false,
      links: [{ ref: 1, text: "Confirm it here", url: "https://app.example/confirm" }]
    }
  },
  "events.replay": {
    202: { event_id: eventId, delivery: { ...delivery, status: "pending", nextAttemptAt: time, deliveredAt: null } }
  },
  "ingest.ingest": { 202: { inbound_email_id: event.inbound_email_id } },
  "replays.start": { 202: { ...replay, queued: 0, delivered: 0 } },
  "replays.get": { 200: replay },
  "purchase.buy": { 201: order },
  "purchase.orders": { 200: { orders: [order], next_cursor: null } },
  "purchase.order": { 200: order }
}
