/** What a mail is. `Traits.ts` stores the position in this list, so new kinds go to the end. */
export const kinds = [
  "person",
  "auto_reply",
  "bounce",
  "dmarc_report",
  "tls_report",
  "list",
  "bulk",
  "calendar"
] as const
