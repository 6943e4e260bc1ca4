import { Schema } from "effect"
import { Authentication } from "../model/InboundEvent.ts"

const isAuthentication = Schema.is(Authentication)

/** The verdicts of a header field added by this service, without their basis. */
export const verdictsIn = (field: string | null): Authentication | undefined => {
  const { groups } =
    /\tspf=(?<spf>\w+); dkim=(?<dkim>\w+); dmarc=(?<dmarc>\w+); arc=(?<arc>\w+)/.exec(field ?? "") ?? {}
  const verdicts = { ...groups }
  return isAuthentication(verdicts) ? verdicts : undefined
}
