import type { InboundEvent } from "./InboundEvent.ts"
import { kinds } from "./KindNames.ts"
import type { KindName } from "./MailKind.ts"
import type { SpamVerdict } from "./Spam.ts"

/** Filters of event lists as bits of `events.traits`. Bit 1 has its own index. */
export const bits = {
  code: 1,
  link: 2,
  attachment: 4,
  /** The author's domain passed DMARC. */
  dmarcPass: 8
} as const

/** The sender kind, in two bits. */
const senders = ["person", "list", "auto", "bounce"] as const
const senderFactor = 16

export const senderBits = senderFactor * (senders.length - 1)

/** The bits of a sender kind among `senderBits`. */
export const ofSender = (sender: (typeof senders)[number]): number => senderFactor * senders.indexOf(sender)

/** How much of a message could be parsed, in two bits. None is for a full one. */
const parses = { partial: 64, headers: 128 } as const

/** The kind of the mail, in four bits. None is for events of earlier versions. */
const kindFactor = 256

export const kindBits = kindFactor * 15

/** The bits of a kind among `kindBits`. */
export const ofKind = (kind: KindName): number => kindFactor * (kinds.indexOf(kind) + 1)

/** Undefined for an event of an earlier version. */
export const kindOf = (traits: number): KindName | undefined => kinds[(Math.floor(traits / kindFactor) % 16) - 1]

export const parseOf = (traits: number): InboundEvent["parse"] =>
  (traits & parses.headers) !== 0 ? "headers" : (traits & parses.partial) !== 0 ? "partial" : "full"

/** The verdict of the scanner, in three bits. None is for mail that was not to be scanned. */
const verdicts = ["clean", "spam", "virus", "unknown"] as const
const verdictFactor = 4_096

export const verdictBits = verdictFactor * 7

/** The bits of a verdict among `verdictBits`. */
export const ofVerdict = (verdict: SpamVerdict): number => verdictFactor * (1 + verdicts.indexOf(verdict))

export const of = ({
  attachments,
  authentication,
  extracted,
  kind,
  parse,
  sender
}: Pick<
  Required<InboundEvent>,
  "attachments" | "authentication" | "extracted" | "kind" | "parse" | "sender"
>): number =>
  ofSender(sender) |
  ofKind(kind.type) |
  (parse === "full" ? 0 : parses[parse]) |
  (extracted.code === null ? 0 : bits.code) |
  (extracted.links.length > 0 ? bits.link : 0) |
  (attachments.length > 0 ? bits.attachment : 0) |
  (authentication.dmarc === "pass" ? bits.dmarcPass : 0)
