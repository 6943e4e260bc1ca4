import { Effect } from "effect"
import { Domain } from "../../model/Domain.ts"
import { CurrentWorkspace } from "../requests/Authorization.ts"

/** A domain as the key of the request may see it: the URL of a webhook may carry a token, and a read key is shown its host alone. */
export const of = (domain: Domain) =>
  CurrentWorkspace.useSync(({ scope }) =>
    scope === "full" || domain.webhookUrl === null
      ? domain
      : new Domain({ ...domain, webhookUrl: `${new URL(domain.webhookUrl).origin}/…` })
  )

export const all = (domains: ReadonlyArray<Domain>) => Effect.forEach(domains, of)
