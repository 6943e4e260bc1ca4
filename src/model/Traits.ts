import type { InboundEvent } from "./InboundEvent.ts"

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

export const parseOf = (traits: number): InboundEvent["parse"] =>
  (traits & parses.headers) !== 0 ? "headers" : (traits & parses.partial) !== 0 ? "partial" : "full"

export const of = ({
  attachments,
  authentication,
  extracted,
  parse,
  sender
}: Pick<Required<InboundEvent>, "attachments" | "authentication" | "extracted" | "parse" | "sender">): number =>
  ofSender(sender) |
  (parse === "full" ? 0 : parses[parse]) |
  (extracted.code === null ? 0 : bits.code) |
  (extracted.links.length > 0 ? bits.link : 0) |
  (attachments.length > 0 ? bits.attachment : 0) |
  (authentication.dmarc === "pass" ? bits.dmarcPass : 0)
