import type { Authentication, Mailbox } from "../model/InboundEvent.ts"
import type { AlignmentReason } from "../model/Trust.ts"
import type { Checked } from "../sender/SenderVerdicts.ts"
import * as SenderAddress from "./SenderAddress.ts"

/** Whether the domain of the From address confirms a mail to this recipient. */
export interface Alignment {
  readonly isAligned: boolean
  readonly reason: AlignmentReason
}

/** What the fields of the message say. */
interface Said {
  readonly from: string | null
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
}

const yes = (reason: AlignmentReason): Alignment => ({ isAligned: true, reason })
const no = (reason: AlignmentReason): Alignment => ({ isAligned: false, reason })

/** For a simulated message: the verdicts that were given with it decide. */
export const ofGiven = ({ dkim, dmarc, spf }: Authentication): Alignment => {
  if (dmarc === "pass") return yes("dmarc_pass")
  if (dmarc === "fail") return no("dmarc_fail")
  return no([dkim, dmarc, spf].every((verdict) => verdict === "none") ? "not_checked" : "not_aligned")
}

/**
 * Decides for each recipient. A signature alone confirms only recipients in a To or Cc field that it covers, because
 * anybody who has a signed message can send it again to another address.
 */
export const of = (checked: Checked, said: Said): ((recipient: string) => Alignment) => {
  const { alignment, authentication, author } = checked
  if (checked.field === null) return () => no("not_checked")
  if (authentication.dmarc === "temperror") return () => no("dns_failed")
  // A malformed From field may show another author than the one that was checked.
  if (alignment === null || said.from === null || SenderAddress.domainOf(said.from) !== author) {
    return () => no("ambiguous_author")
  }
  if (authentication.dmarc === "fail") return () => no("dmarc_fail")
  const { covered, dkim, isSpfSaid, spf } = alignment
  if (!spf && !dkim) return () => no(isSpfSaid ? "word_of_relay" : "not_aligned")
  const isPass = authentication.dmarc === "pass"
  if (spf) return () => yes(isPass ? "dmarc_pass" : "spf_aligned")
  const named = new Set(covered.flatMap((field) => said[field].map(({ address }) => SenderAddress.canonical(address))))
  return (recipient) =>
    named.has(SenderAddress.canonical(recipient))
      ? yes(isPass ? "dmarc_pass" : "dkim_aligned")
      : no("addressed_to_others")
}
