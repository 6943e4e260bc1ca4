// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type { Released, SenderRule } from "./Contract.ts"
import { at, segment } from "./Events.ts"
import type { CallOptions, Requests } from "./Requests.ts"

/** What a rule says, and about whom. */
export interface SenderRuleFields {
  readonly list: SenderRule["list"]
  /** An address, a domain, `*.example.com`, or a network for the match `network`. */
  readonly value: string
  /** `author` by default. */
  readonly match?: SenderRule["match"]
  /** `hold` by default. */
  readonly action?: SenderRule["action"]
  readonly webhook_id?: string | null
  readonly note?: string | null
}

/** Who may write to a domain, and mail that waits for a decision. */
export class Senders {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  async list(domainId: string, options?: CallOptions): Promise<ReadonlyArray<SenderRule>> {
    const answer = await this.#requests.json<{ readonly sender_rules: ReadonlyArray<SenderRule> }>(
      { method: "GET", path: pathOf(domainId) },
      options
    )
    return answer.sender_rules
  }

  /** Allows or blocks a sender, for mail that comes from now on. */
  create(domainId: string, fields: SenderRuleFields, options?: CallOptions): Promise<SenderRule> {
    return this.#requests.json({ method: "POST", path: pathOf(domainId), body: fields }, options)
  }

  /** Removes a rule. Mail that it held stays held. */
  remove(domainId: string, ruleId: string, options?: CallOptions): Promise<void> {
    const path = `${pathOf(domainId)}/${segment(ruleId)}`
    return this.#requests.nothing({ method: "DELETE", path }, options)
  }

  /** Delivers a mail that a rule or the mail scanner holds. With `allow` its author passes from now on. */
  release(
    domainId: string,
    eventId: string,
    { allow = false, ...options }: CallOptions & { readonly allow?: boolean } = {}
  ): Promise<Released> {
    return this.#requests.json({ method: "POST", path: `${at(domainId, eventId)}/release`, body: { allow } }, options)
  }
}

const pathOf = (domainId: string) => `${at(domainId)}/sender-rules`
