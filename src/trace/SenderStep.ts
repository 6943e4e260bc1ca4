import { simulatedAddress } from "../model/InboundEmail.ts"
import type { AlignmentReason, RuleHold } from "../model/Trust.ts"
import type { ReadMail } from "./TracedMail.ts"
import { type TraceOutcome, type TraceStep, wrong } from "./TraceEntry.ts"

/** Why the author of a mail is not confirmed, in words. */
const because: { readonly [Reason in AlignmentReason]?: string } = {
  dmarc_fail: "DMARC failed for the domain in From",
  not_aligned: "neither SPF nor DKIM passed in the name of the domain in From",
  word_of_relay: "only the relay that handed it over says where it came from",
  addressed_to_others:
    "only its signature speaks for the author, and the signed To and Cc name others, as in a mail that is sent again",
  ambiguous_author: "From names no author, or more than one",
  dns_failed: "DNS did not answer about the domain in From",
  not_checked: "the sender was not checked"
}

const reasonOf = (tail: string | null): string | undefined => {
  const [, word = ""] = /"reasons":\["(\w+)"/.exec(tail ?? "") ?? []
  return Object.entries(because).find(([reason]) => reason === word)?.[1]
}

/** The last step of a mail that a sender rule holds. */
export const of = (
  { author, domainId, eventId, relayed, remoteAddress, tail }: ReadMail,
  reason: RuleHold | "mail_loop"
): { readonly outcome: TraceOutcome; readonly step: TraceStep } => {
  const release = `POST /api/domains/${domainId}/events/${eventId}/release`
  if (reason === "sender_blocked") {
    const text = `Held, because a sender rule blocks ${author}, its envelope or its network`
    return { outcome: "held", step: wrong("state", null, text, `${release} delivers it, if it should`) }
  }
  if (reason === "mail_loop") {
    const text = `Held as a mail loop: ${author} sent more answers to this address in an hour than MAX_ANSWERS_PER_HOUR allows`
    const remedy = `Look whether two programs answer each other, and stop one of them. ${release} delivers this mail`
    return { outcome: "held", step: wrong("state", null, text, remedy) }
  }
  const doubt = reasonOf(tail)
  return {
    outcome: "held",
    step:
      doubt === undefined
        ? wrong(
            "state",
            null,
            `Held, because no sender rule allows ${author}`,
            `${release} delivers it, with {"allow": true} also later mail of this author`
          )
        : wrong(
            "state",
            null,
            `Held, because no sender rule allows it. A rule for ${author} would not count, since ${doubt}`,
            remoteAddress === simulatedAddress
              ? `${release} delivers it. Simulate it with {"authentication": {"dmarc": "pass"}} for a confirmed author`
              : `Look whether it is forged. ${release} delivers it.${relayed ? "" : " Allow its network or envelope if it comes this way again"}`
          )
  }
}
