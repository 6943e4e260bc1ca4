import { version } from "../Version.ts"

/** All headers of a webhook request with this signature. */
export const of = (signature: Readonly<Record<string, string>>): Record<string, string> => ({
  "Content-Type": "application/json",
  "User-Agent": `Inlet/${version}`,
  ...signature
})
