import { Domain } from "../../model/Domain.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"

/**
 * A domain as shown to the caller. Read-only keys see only the host of the webhook URL, because the path may contain
 * a token.
 */
export const of = (domain: Domain) =>
  CurrentWorkspace.useSync(({ scope }) =>
    scope === "full" || domain.webhookUrl === null
      ? domain
      : new Domain({ ...domain, webhookUrl: `${new URL(domain.webhookUrl).origin}/…` })
  )
