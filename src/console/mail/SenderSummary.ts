import type { Authentication } from "../api/Contract.ts"

/** Sums up the verdicts in one sentence. Only DMARC confirms the From field. */
export const of = ({ arc, dkim, dmarc, spf }: Authentication): string => {
  if (dmarc === "pass") return "The From address is confirmed by its domain (DMARC)."
  if (dmarc === "fail") return "The domain in From does not confirm this mail. It may be forged."
  if (dmarc === "temperror") return "DNS did not answer, so the From address is not confirmed."
  if (dmarc === "permerror") {
    return [arc, dkim, spf].every((verdict) => verdict === "permerror")
      ? "The header is too large or has too many signatures to check, so the From address is not confirmed."
      : "The From field does not name one clear author, so no address is confirmed. It may be forged."
  }
  return dmarc === "none" && spf === "pass"
    ? "The From address is not confirmed, because its domain publishes no DMARC policy."
    : "Nothing confirms the From address."
}
