import * as AddressRange from "../model/AddressRange.ts"
import type { RuleInForce } from "../model/SenderRule.ts"
import type { RuleHold, Trust } from "../model/Trust.ts"
import type { Alignment } from "./Alignment.ts"
import * as SenderAddress from "./SenderAddress.ts"

/** What is known in the SMTP session. */
export interface Session {
  /** The address of MAIL. Empty for a bounce. */
  readonly from: string
  readonly remoteAddress: string
  /** A relay named them, so they confirm nothing. */
  readonly relayed?: true
}

/** What is known of a message to one recipient. */
export interface Facts extends Session {
  /** The webhook that takes the recipient. */
  readonly webhookId: string
  /** The From address, or null. */
  readonly author: string | null
  /** What a block rule about the author is compared with: every author, and the event's `from`. */
  readonly authors: () => SenderAddress.Senders
  readonly alignment: Alignment
  /** Whether SPF passed for `from`, by what we saw. */
  readonly isEnvelopeConfirmed: boolean
}

export interface Judgement {
  readonly trust: Trust
  /** Null for mail that passes. */
  readonly hold: RuleHold | null
}

const isAbout =
  (webhookId: string) =>
  (rule: RuleInForce): boolean =>
    rule.webhookId === null || rule.webhookId === webhookId

const matchesSession = ({ match, value }: RuleInForce, { from, remoteAddress }: Session): boolean =>
  match === "network"
    ? AddressRange.contains([value])(remoteAddress)
    : match === "envelope" && SenderAddress.matches(value, from)

/** The rule that rejects a message in its session, or undefined. */
export const rejecting = (
  rules: ReadonlyArray<RuleInForce>,
  webhookId: string,
  session: Session
): RuleInForce | undefined =>
  rules
    .filter(isAbout(webhookId))
    .find((rule) => rule.list === "block" && rule.action === "reject" && matchesSession(rule, session))

/** A blocked sender stays blocked if nothing confirms it, because who is blocked would leave that out. */
const isBlocked = (rule: RuleInForce, facts: Facts): boolean =>
  rule.match === "author" ? SenderAddress.takesOne(rule.value, facts.authors()) : matchesSession(rule, facts)

/** Only a confirmed sender is allowed, so that a forged one is not. */
const isAllowed = (rule: RuleInForce, facts: Facts): boolean => {
  const { alignment, author, isEnvelopeConfirmed, relayed } = facts
  if (rule.match === "author")
    return alignment.isAligned && author !== null && SenderAddress.matches(rule.value, author)
  return (rule.match === "network" ? relayed !== true : isEnvelopeConfirmed) && matchesSession(rule, facts)
}

/**
 * Compares a message with the rules of its domain. Block rules of the domain and of the webhook count. The allow rules
 * of a webhook take the place of the domain's.
 */
export const of = (rules: ReadonlyArray<RuleInForce>, facts: Facts): Judgement => {
  const { isAligned: aligned, reason } = facts.alignment
  const own = rules.filter(isAbout(facts.webhookId))
  if (own.length === 0) return { trust: { aligned, rule: null, reasons: [reason] }, hold: null }
  const told = (rule: RuleInForce | undefined, hold: RuleHold | null): Judgement => ({
    trust: { aligned, rule: rule?.id ?? null, reasons: [reason, hold ?? "allowed"] },
    hold
  })
  const blocked = own.find((rule) => rule.list === "block" && isBlocked(rule, facts))
  if (blocked !== undefined) return told(blocked, "sender_blocked")
  const allowing = own.filter(({ list }) => list === "allow")
  if (allowing.length === 0) return told(undefined, null)
  const ofWebhook = allowing.filter((rule) => rule.webhookId !== null)
  const allowed = (ofWebhook.length > 0 ? ofWebhook : allowing).find((rule) => isAllowed(rule, facts))
  return told(allowed, allowed === undefined ? "sender_not_allowed" : null)
}
