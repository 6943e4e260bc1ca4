/** The success answers of each operation, by status. */
export const successes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "workspaces.create": { 201: "The workspace, with its key and its secret" },
  "workspaces.get": { 200: "The workspace of the key" },
  "workspaces.update": { 200: "The workspace with its operational webhook" },
  "workspaces.rotateKey": { 200: "The new key" },
  "workspaces.createKey": { 201: "The key, shown only once" },
  "workspaces.listKeys": { 200: "All keys beside the workspace's own" },
  "workspaces.revokeKey": { 204: "It is revoked" },
  "workspaces.rotateSecret": { 200: "The new secret" },
  "domains.instantInbox": { 200: "The inbox that the workspace has", 201: "A new inbox" },
  "domains.create": { 201: "The domain, and the record to publish for it" },
  "domains.list": { 200: "A page of domains" },
  "domains.get": { 200: "The domain" },
  "domains.update": { 200: "The domain with the changed setting" },
  "domains.remove": { 204: "It is removed" },
  "domains.verify": { 200: "The domain with its status" },
  "domains.mx": { 200: "The record to publish, and what DNS says now" },
  "domains.dns": { 200: "Each record, with what DNS has" },
  "domains.health": { 200: "The checks, with a summary" },
  "domains.stats": { 200: "One entry for each day" },
  "domains.refusals": { 200: "A page of refusals" },
  "domains.webhookHealth": { 200: "How the webhook does" },
  "domains.webhookTest": { 200: "The answer of the webhook, whatever it was" },
  "domains.delivery": { 200: "How mail is delivered now" },
  "webhooks.list": { 200: "All webhooks of the domain" },
  "webhooks.create": { 201: "The webhook" },
  "webhooks.match": { 200: "The webhook that takes the address, and the others" },
  "webhooks.get": { 200: "The webhook" },
  "webhooks.update": { 200: "The webhook as it is now" },
  "webhooks.remove": { 204: "It is removed" },
  "webhooks.health": { 200: "How the webhook does" },
  "webhooks.rotateSecret": { 200: "The new secret" },
  "webhooks.test": { 200: "The answer of the webhook, whatever it was" },
  "senderRules.list": { 200: "All sender rules of the domain" },
  "senderRules.create": { 201: "The rule as mail is compared with it" },
  "senderRules.remove": { 204: "It is removed" },
  "senderRules.release": { 202: "The delivery, which is due or stays with its webhook, and the rule that was made" },
  "deliveries.lease": { 200: "What was due, and none where nothing was in time" },
  "deliveries.settle": { 200: "What became of each outcome, in their order" },
  "events.listAll": { 200: "A page of events of all domains" },
  "events.list": { 200: "A page of events" },
  "events.stream": { 200: "Server-sent events, each with the payload of a webhook as its data" },
  "events.get": { 200: "The event" },
  "events.find": { 200: "The event, with the id of its domain" },
  "events.raw": { 200: "The raw message" },
  "events.attachment": { 200: "The bytes of the attachment, under its own type" },
  "events.html": { 200: "A page that is safe to show in a frame" },
  "events.signed": { 200: "The request, signed now" },
  "events.replay": { 202: "The delivery, which is queued" },
  "events.deliverNow": { 202: "The delivery, which is due" },
  "events.deliveryAttempts": { 200: "A page of webhook requests" },
  "replays.start": { 200: "The number of deliveries, with dry_run", 202: "The job, which is running" },
  "replays.list": { 200: "A page of jobs" },
  "replays.get": { 200: "The job and its progress" },
  "replays.stop": { 200: "The job as it stands" },
  "trace.search": { 200: "A page of mails and refusals" },
  "simulate.simulate": { 201: "The events of the mail", 202: "The mail is kept, and its event follows" },
  "ingest.ingest": { 202: "The mail is stored, and its event follows" },
  "purchase.search": { 200: "An offer for each candidate" },
  "purchase.buy": { 201: "The order, which is done", 202: "The order, which is on its way" },
  "purchase.orders": { 200: "A page of orders" },
  "purchase.order": { 200: "The order" },
  "purchase.wallet": { 200: "The balance, and every entry that led to it" },
  "payments.stripe": { 200: "The event was taken" },
  "demo.events": { 200: "All events of the demo inbox" },
  "demo.stream": { 200: "Server-sent events, each with the payload of a webhook as its data" },
  "demo.simulate": { 202: "The sample is kept, and its event follows" },
  "demo.raw": { 200: "The raw message" },
  "demo.attachment": { 200: "The bytes of the attachment, under its own type" },
  "demo.html": { 200: "A page that is safe to show in a frame" },
  "demo.inbox": { 200: "The demo inbox of the cookie", 201: "A new demo inbox, and its cookie" },
  "console.sessions": { 200: "All sessions of the workspace" },
  "console.revoke": { 204: "It is revoked" },
  "console.link": { 201: "A link that works once" },
  "console.state": { 200: "The state of the console" },
  "console.signIn": { 201: "Signed in, with the cookie" },
  "console.signOut": { 204: "The sessions have ended" },
  "operations.list": { 200: "A page of operational events" },
  "admin.operationalEvents": { 200: "A page of operational events" },
  "admin.workspaces": { 200: "A page of workspaces" },
  "admin.removeWorkspace": { 204: "It is removed" },
  "admin.refusals": { 200: "A page of refusals" },
  "admin.trace": { 200: "A page of mails and refusals" },
  "admin.status": { 200: "The status of the service" },
  "admin.list": { 200: "A page of domains" },
  "admin.disable": { 200: "The domains that were disabled" },
  "admin.enable": { 200: "The domains that were enabled" },
  "admin.remove": { 200: "The domain that was removed" },
  "system.health": { 200: "The process serves" },
  "system.ready": { 200: "The database answers" }
}

/** The statuses with which a mail is refused that a relay hands over. */
export const ofMail: ReadonlySet<string> = new Set(["413", "422", "429", "503"])

/** The error statuses: name in the document, meaning and header. */
export const errors = {
  400: { name: "BadRequest", description: "The request is invalid. The message names the field" },
  401: {
    name: "Unauthorized",
    description: "The API key or demo cookie is missing or wrong",
    header: "WWW-Authenticate"
  },
  403: {
    name: "Forbidden",
    description:
      "The credential may not do this: a read key on a route that changes or bills, an ingest key on any other route than ingest, a console cookie from another site, or no operator's token"
  },
  404: { name: "NotFound", description: "The workspace of the key has no resource with this id" },
  409: { name: "Conflict", description: "The current state does not allow the request" },
  413: {
    name: "TooLarge",
    description: "The body or message is too large. The limit is 256 KiB on every route except simulate and ingest"
  },
  422: { name: "Unprocessable", description: "The request is valid but cannot be carried out" },
  429: {
    name: "TooManyRequests",
    description: "A rate or daily limit is reached. `Retry-After` says when to retry",
    header: "Retry-After"
  },
  500: {
    name: "InternalError",
    description: "A bug or a damaged stored message. The operator finds the cause in the log by the X-Request-Id"
  },
  502: { name: "BadGateway", description: "A registrar or payment provider failed or did not answer" },
  503: {
    name: "Unavailable",
    description: "The database or raw message store does not answer. `Retry-After` says when to retry",
    header: "Retry-After"
  }
} as const

export const headers = {
  "X-Request-Id": {
    description: "The X-Request-Id of the request (up to 128 ASCII characters), or a new one",
    schema: { type: "string" }
  },
  "Retry-After": { description: "Seconds to wait before a retry", schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": {
    description: "Bearer, on routes that require an API key",
    schema: { type: "string", enum: ["Bearer"] }
  }
} as const
