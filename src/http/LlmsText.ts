import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Settings from "../Settings.ts"

/** What an agent needs to use the service, at `/llms.txt`. */
export const layer = HttpRouter.add(
  "GET",
  "/llms.txt",
  Effect.gen(function* () {
    const { publicUrl } = yield* Effect.orDie(Settings.http)
    return HttpServerResponse.text(render(publicUrl))
  })
)

const render = (url: string) => `# Inlet

> Inbound email for agents. Mail to any address of your domain arrives at your webhook as signed JSON. A mail that was accepted is never lost, and every delivery attempt can be looked up.

Base URL: ${url}. Bodies are JSON. Errors are {"error": "<message>"}. Send "Authorization: Bearer <api_key>" everywhere but on the first call.

## In four calls

1. POST /api/workspaces {"name": "my agent"} gives api_key and webhook_signing_secret, once.
2. POST /api/instant-inbox gives an address and a domain_id. Every local part of its domain works.
3. PATCH /api/domains/{domain_id}/delivery {"webhookUrl": "https://…"} sets where mail is posted.
4. GET /api/domains/{domain_id}/events lists what came in; add ?wait=60 to wait for new mail without a webhook.

## Your own domain

POST /api/domains {"domain": "example.com"}, publish the TXT record it names, POST /api/domains/{id}/verify, then publish the MX record of GET /api/domains/{id}/mx.

## Webhooks

Answer any 2xx once the event is safe. Verify first: X-Service-Signature is t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{raw body}" keyed with the whole secret>; refuse a t more than 300 s off, and an X-Service-Event-Id that is not the event_id of the body. The Standard Webhooks headers are there too. Deduplicate on event_id. Anything but 2xx is tried again for about three days; POST /api/domains/{id}/events/{event_id}/replay sends it again.

## More

- [OpenAPI](${url}/openapi.json): every route, field and status
- [Reference](${url}/docs): the same for people
`
