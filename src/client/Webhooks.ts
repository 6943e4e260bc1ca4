// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type { ChangedWebhook, RawOptions, Webhook, WebhookMatch, WebhookTestResult } from "./Contract.ts"
import { at, segment } from "./Events.ts"
import type { CallOptions, Requests } from "./Requests.ts"

/** What a webhook is made of. With a `webhookUrl` the action is `webhook`, without one `hold`. */
export interface WebhookFields {
  /** A name such as `support`, or a glob such as `agent-*`, over the part before the `@`. */
  readonly pattern: string
  readonly action?: Webhook["action"]
  readonly webhookUrl?: string | null
  readonly format?: string
  readonly signingKey?: string
  /** For the format `raw`. */
  readonly raw?: RawOptions
  readonly description?: string | null
  /** The ids of webhooks that take mail of these kinds: `{ bounce: id }`. */
  readonly kinds?: Webhook["kinds"]
  /** `own` makes a secret for this webhook, which the answer shows once. */
  readonly secret?: "own" | "workspace"
}

/** The webhooks of a domain, by the part of the address before the `@`. */
export class Webhooks {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** In the order in which they count, the catch-all last. */
  async list(domainId: string, options?: CallOptions): Promise<ReadonlyArray<Webhook>> {
    const answer = await this.#requests.json<{ readonly webhooks: ReadonlyArray<Webhook> }>(
      { method: "GET", path: pathOf(domainId) },
      options
    )
    return answer.webhooks
  }

  create(domainId: string, fields: WebhookFields, options?: CallOptions): Promise<ChangedWebhook> {
    return this.#requests.json({ method: "POST", path: pathOf(domainId), body: fields }, options)
  }

  /** Changes what is given. Undelivered mail stays with the webhook. */
  update(
    domainId: string,
    webhookId: string,
    change: Partial<WebhookFields>,
    options?: CallOptions
  ): Promise<ChangedWebhook> {
    return this.#requests.json({ method: "PATCH", path: pathOf(domainId, webhookId), body: change }, options)
  }

  /** Removes a webhook other than the catch-all, and holds its undelivered mail. */
  remove(domainId: string, webhookId: string, options?: CallOptions): Promise<void> {
    return this.#requests.nothing({ method: "DELETE", path: pathOf(domainId, webhookId) }, options)
  }

  /** Posts a signed sample event at once, and returns what the webhook answered. */
  test(domainId: string, webhookId: string, options?: CallOptions): Promise<WebhookTestResult> {
    return this.#requests.json({ method: "POST", path: `${pathOf(domainId, webhookId)}/test` }, options)
  }

  /** Replaces the secret of a webhook that has its own, and returns the new one. The old one also signs for 24 hours. */
  async rotateSecret(domainId: string, webhookId: string, options?: CallOptions): Promise<string> {
    const path = `${pathOf(domainId, webhookId)}/rotate-secret`
    const answer = await this.#requests.json<{ readonly webhook_signing_secret: string }>(
      { method: "POST", path, isOnce: true },
      options
    )
    return answer.webhook_signing_secret
  }

  /** The webhook that takes an address, and why the others do not. */
  match(domainId: string, recipient: string, options?: CallOptions): Promise<WebhookMatch> {
    return this.#requests.json({ method: "GET", path: `${pathOf(domainId)}/match`, query: { recipient } }, options)
  }
}

const pathOf = (...ids: readonly [domainId: string] | readonly [domainId: string, webhookId: string]) =>
  `${at(ids[0])}/webhooks${ids.length === 1 ? "" : `/${segment(ids[1])}`}`
