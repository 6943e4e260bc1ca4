import type { Domain } from "../../model/Domain.ts"

/** A domain in a list. */
export const of = ({ disabled_reason, domain, origin, pull, status, webhookUrl }: Domain) => ({
  domain,
  origin,
  status,
  webhook: webhookUrl ?? (pull ? "pull" : "-"),
  reason: disabled_reason ?? ""
})
