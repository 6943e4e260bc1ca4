import type { Authentication } from "../api/Contract.ts"
import { Tag, type Tone } from "../frame/Tag.tsx"

const tones: Partial<Record<string, Tone>> = { pass: "good", fail: "bad", softfail: "bad", permerror: "bad" }

const meanings = {
  spf: "SPF: the server may send for the envelope sender's domain",
  dkim: "DKIM: a signature of the sender's domain matches the mail",
  dmarc: "DMARC: SPF or DKIM confirm the domain that the From field shows",
  arc: "ARC: forwarders before us recorded their checks"
} as const

/** Sums up the verdicts in one sentence. Only DMARC confirms the From field. */
const summary = ({ dmarc, spf }: Authentication): string => {
  if (dmarc === "pass") return "The From address is confirmed by its domain (DMARC)."
  if (dmarc === "fail") return "The domain in From does not confirm this mail. It may be forged."
  if (dmarc === "temperror") return "DNS did not answer, so the From address is not confirmed."
  return spf === "pass"
    ? "The From address is not confirmed, because its domain publishes no DMARC policy."
    : "Nothing confirms the From address."
}

/** The verdicts about the sender, in words. */
export const Verdicts = ({ authentication }: { readonly authentication: Authentication }) => (
  <>
    <span>{summary(authentication)}</span>
    <span class="verdicts">
      {(["spf", "dkim", "dmarc", "arc"] as const).map((name) => (
        <span key={name} title={meanings[name]}>
          <Tag tone={tones[authentication[name]] ?? "plain"}>
            {name.toUpperCase()} {authentication[name]}
          </Tag>
        </span>
      ))}
    </span>
  </>
)
