import type { Domain } from "../model/Domain.ts"

/** A domain in a list. */
export const of = ({ disabled_reason, domain, origin, status, webhookUrl }: Domain) => ({
  domain,
  origin,
  status,
  webhook: webhookUrl ?? "-",
  reason: disabled_reason ?? ""
})
