import { type Cause, Effect, Exit } from "effect"
import * as DomainNames from "../domains/DomainNames.ts"
import * as EnvelopeAddress from "../intake/EnvelopeAddress.ts"
import type { Intake } from "../intake/Intake.ts"
import { type Recipient, UnknownDomain } from "../intake/Recipient.ts"
import * as Reply from "../intake/Reply.ts"
import type { Domain } from "../model/Domain.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { RefusalReason } from "../model/Refusal.ts"

/** A recipient that SMTP would refuse. */
interface RefusedRecipient {
  readonly address: string
  readonly reply: Reply.Reply
  readonly cause: Cause.Cause<unknown> | undefined
}

type Inbox = Pick<Domain, "id" | "domain" | "status">

/** Why the domain takes no mail for an address, in the words of the ledger. */
const reasonOf = ({ status }: Inbox, isHere: boolean): RefusalReason => {
  if (!isHere) return "relay"
  if (status === "disabled") return "disabled"
  return status === "pending_verification" ? "not_verified" : "held_elsewhere"
}

/** Answers each recipient as `RCPT` would. */
export const admit = Effect.fnUntraced(function* (
  intake: Intake["Service"],
  domain: Inbox,
  envelope: Envelope,
  addresses: ReadonlyArray<string>
) {
  const admitted: Array<Recipient> = []
  const refused: Array<RefusedRecipient> = []
  for (const address of addresses) {
    if (!EnvelopeAddress.isValid(address)) {
      refused.push({ address, reply: Reply.badRecipient, cause: undefined })
      continue
    }
    const isHere = DomainNames.canonical(address.slice(address.lastIndexOf("@") + 1)) === domain.domain
    const exit = yield* Effect.exit(isHere ? intake.admit(address, envelope) : new UnknownDomain())
    // Another workspace may hold the name, and a relay speaks for the domain of its key alone.
    if (Exit.isSuccess(exit) && exit.value.domainId === domain.id) {
      admitted.push(exit.value)
      continue
    }
    const reply = Exit.isSuccess(exit) ? Reply.fromError(new UnknownDomain()) : Reply.fromCause(exit.cause)
    refused.push({
      address,
      // Not that of another workspace that holds the name.
      reply:
        reply.reason === "unknown" || reply.reason === "disabled"
          ? { ...reply, reason: reasonOf(domain, isHere) }
          : reply,
      cause: Exit.isFailure(exit) ? exit.cause : undefined
    })
  }
  // A relay that repeats the message without those refused for good gets the answers of the others then.
  const forGood = refused.filter(({ reply }) => reply.code >= 500)
  return { admitted, refused: forGood.length > 0 ? forGood : refused }
})
