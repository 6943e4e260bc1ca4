// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type { LeasedDelivery, Outcome, Settled } from "./Contract.ts"
import { at } from "./Events.ts"
import type { CallOptions, Requests } from "./Requests.ts"

/** What to lease. Without `webhookId` deliveries of every webhook with the action `pull`. */
export interface Leasing {
  /** At most 16, the default. */
  readonly limit?: number | undefined
  /** Seconds to wait for a due delivery, 0 by default. */
  readonly wait?: number | undefined
  readonly webhookId?: string | undefined
}

/** Pull deliveries, for apps without a public address. */
export class Deliveries {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /**
   * Leases due deliveries, oldest first. Verify each with its `headers` and `body` as a webhook, and `settle` it before
   * `leased_until`.
   */
  async lease(
    domainId: string,
    { limit, wait, webhookId }: Leasing = {},
    options?: CallOptions
  ): Promise<ReadonlyArray<LeasedDelivery>> {
    const answer = await this.#requests.json<{ readonly deliveries: ReadonlyArray<LeasedDelivery> }>(
      {
        method: "POST",
        path: `${at(domainId)}/deliveries/lease`,
        body: { limit, webhook_id: webhookId },
        wait,
        waitIn: "body"
      },
      options
    )
    return answer.deliveries
  }

  /** Reports what became of leased deliveries. An outcome after the end of its lease has the `status` 409. */
  async settle(
    domainId: string,
    outcomes: ReadonlyArray<Outcome>,
    options?: CallOptions
  ): Promise<ReadonlyArray<Settled>> {
    const answer = await this.#requests.json<{ readonly outcomes: ReadonlyArray<Settled> }>(
      { method: "POST", path: `${at(domainId)}/deliveries/settle`, body: { outcomes } },
      options
    )
    return answer.outcomes
  }
}
