import type { Authentication } from "../api/Contract.ts"
import { Tag, type Tone } from "../frame/Tag.tsx"
import * as SenderSummary from "./SenderSummary.ts"

const tones: Partial<Record<string, Tone>> = { pass: "good", fail: "bad", softfail: "bad", permerror: "bad" }

const meanings = {
  spf: "SPF: the server may send for the envelope sender's domain",
  dkim: "DKIM: a signature of the sender's domain matches the mail",
  dmarc: "DMARC: SPF or DKIM confirm the domain that the From field shows",
  arc: "ARC: forwarders before us recorded their checks"
} as const

/** The verdicts about the sender, in words. */
export const Verdicts = ({ authentication }: { readonly authentication: Authentication }) => (
  <>
    <span>{SenderSummary.of(authentication)}</span>
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
