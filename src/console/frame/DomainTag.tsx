import type { Domain } from "../api/Contract.ts"
import { Tag, type Tone } from "./Tag.tsx"

const tones: Record<Domain["status"], Tone> = {
  pending_verification: "wait",
  mx_pending: "wait",
  verified: "good",
  live: "good",
  disabled: "bad"
}

const words: Record<Domain["status"], string> = {
  pending_verification: "waiting for its TXT record",
  mx_pending: "verified, waiting for mail",
  verified: "ready",
  live: "live",
  disabled: "disabled"
}

/** Where a domain comes from. */
export const originWords: Record<Domain["origin"], string> = {
  byo: "own domain",
  purchased: "bought here",
  instant: "instant inbox",
  demo: "demo"
}

/** The status of a domain. */
export const DomainTag = ({ status }: { readonly status: Domain["status"] }) => (
  <Tag tone={tones[status]}>{words[status]}</Tag>
)
