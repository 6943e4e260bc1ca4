// @effect-diagnostics asyncFunction:off for programs without Effect: they await promises.
import type {
  Domain,
  DomainHealth,
  DomainsPage,
  DomainsQuery,
  DomainWebhook,
  MxRecords,
  RawOptions
} from "./Contract.ts"
import { at } from "./Events.ts"
import type { CallOptions, Requests } from "./Requests.ts"

/** The form of the requests to a webhook. */
export interface Wire {
  readonly format?: string | undefined
  readonly signingKey?: string | undefined
  readonly raw?: RawOptions | undefined
}

/** The domains of the workspace. */
export class Domains {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** All domains of the workspace, newest first, requested 100 at a time. */
  async list(options?: CallOptions): Promise<ReadonlyArray<Domain>> {
    const all: Array<Domain> = []
    for await (const { domains } of this.pages({}, options)) all.push(...domains)
    return all
  }

  /** A page of domains, newest first. `domain` finds one by its name. */
  page(query: DomainsQuery = {}, options?: CallOptions): Promise<DomainsPage> {
    return this.#get("/api/domains", query, options)
  }

  /** Every page of domains. The timeout is that of each request. */
  async *pages(query: DomainsQuery = {}, options?: CallOptions): AsyncGenerator<DomainsPage> {
    let page = await this.page(query, options)
    yield page
    // A service before the pages has no cursor.
    while (typeof page.next_cursor === "string") {
      page = await this.page({ ...query, cursor: page.next_cursor }, options)
      yield page
    }
  }

  get(domainId: string, options?: CallOptions): Promise<Domain> {
    return this.#get(at(domainId), {}, options)
  }

  /** Registers an own domain. Publish the TXT record of the answer, then call `verify`. */
  create(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#requests.json({ method: "POST", path: "/api/domains", body: { domain } }, options)
  }

  /** Looks up the TXT record. 409 while it is missing. */
  verify(domainId: string, options?: CallOptions): Promise<Domain> {
    return this.#requests.json({ method: "POST", path: `${at(domainId)}/verify` }, options)
  }

  /** The MX record to publish, and the current ones. */
  mx(domainId: string, options?: CallOptions): Promise<MxRecords> {
    return this.#get(`${at(domainId)}/mx`, {}, options)
  }

  /** Checks whether mail arrives and is delivered, and what to do if not. */
  health(domainId: string, options?: CallOptions): Promise<DomainHealth> {
    return this.#get(`${at(domainId)}/health`, {}, options)
  }

  /**
   * Sets the webhook. Null holds the events. A `format` of another provider may have a user name and a password in
   * the URL. `mailgun` and `mandrill` have a `signingKey`, which the answer shows once if Inlet made it, and `raw` has
   * options of its own.
   */
  setWebhook(
    domainId: string,
    webhookUrl: string | null,
    { format, raw, signingKey, ...options }: CallOptions & Wire = {}
  ): Promise<DomainWebhook> {
    return this.#requests.json(
      { method: "PATCH", path: `${at(domainId)}/delivery`, body: { webhookUrl, format, raw, signingKey } },
      options
    )
  }

  /** Makes mail wait for `deliveries.lease`. False holds it. Fails with 409 while a webhook is set. */
  setPull(domainId: string, pull: boolean, options?: CallOptions): Promise<DomainWebhook> {
    return this.#requests.json({ method: "PATCH", path: `${at(domainId)}/delivery`, body: { pull } }, options)
  }

  /** Sets what becomes of mail that the mail scanner calls spam or a virus: `tag` delivers it, `hold` holds it. */
  setSpam(domainId: string, spam: Domain["spam"], options?: CallOptions): Promise<Domain> {
    return this.#requests.json({ method: "PATCH", path: at(domainId), body: { spam } }, options)
  }

  /** Removes the domain with its messages, events and attempts. */
  remove(domainId: string, options?: CallOptions): Promise<void> {
    return this.#requests.nothing({ method: "DELETE", path: at(domainId) }, options)
  }

  #get<A>(path: string, query: object, options: CallOptions | undefined): Promise<A> {
    return this.#requests.json({ method: "GET", path, query }, options)
  }
}
