import { Effect } from "effect"
import * as Judgement from "../trust/Judgement.ts"
import * as Routes from "../webhooks/routes/Routes.ts"
import type * as Admissions from "./Admissions.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import {
  DemoFull,
  DisabledDomain,
  QuotaReached,
  type Recipient,
  RejectedRoute,
  SenderRejected,
  UnknownDomain
} from "./Recipient.ts"
import type * as TypedAddress from "./TypedAddress.ts"

/** The session that a recipient comes from. */
export interface Session extends Judgement.Session {
  /** A recipient before it was unknown, so this one may wait up to 10 ms and share its lookup. */
  readonly hasErred?: boolean
}

// One for all, because the stack trace of an error costs more than the lookup of a refused recipient.
export const unknownDomain = Effect.fail(new UnknownDomain())
const disabledDomain = Effect.fail(new DisabledDomain())

/** Decides on a recipient of this domain, or of one that takes no mail. */
export const of = (
  { domain, localPart }: TypedAddress.TypedAddress,
  admission: Admissions.Admission | null,
  session: Session,
  { emailsPerDay }: { readonly emailsPerDay: number }
): Effect.Effect<
  Recipient,
  UnknownDomain | DisabledDomain | RejectedRoute | SenderRejected | QuotaReached | DemoFull
> => {
  if (admission === null) return unknownDomain
  const { accepted, demoMails, id, routes, spamAction, takesMail, workspaceId } = admission
  if (!takesMail) return disabledDomain
  const route = Routes.match(routes, localPart)
  if (route === undefined) return Effect.die(`The domain ${id} has no catch-all`)
  if (route.action === "reject") return Effect.fail(new RejectedRoute({ pattern: route.pattern }))
  const rules = admission.rules ?? []
  if (rules.length > 0 && Judgement.rejecting(rules, route.id, session) !== undefined) {
    return Effect.fail(new SenderRejected())
  }
  if (emailsPerDay > 0 && accepted >= emailsPerDay) {
    const workspaceIds = workspaceId === null ? [] : [workspaceId]
    return Effect.fail(new QuotaReached({ limit: emailsPerDay, workspaceIds }))
  }
  if (demoMails !== null && demoMails >= InboundTransaction.mailsPerDemo) return Effect.fail(new DemoFull())
  const address = `${localPart}@${domain}`
  return Effect.succeed({ address, domain, domainId: id, workspaceId, route, rules, spamAction })
}
