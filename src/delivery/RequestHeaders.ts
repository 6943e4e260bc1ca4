import { version } from "../Version.ts"

/** All headers of a webhook request with this signature. `others` replaces the content type. */
export const of = (
  signature: Readonly<Record<string, string>>,
  others?: Readonly<Record<string, string>>
): Record<string, string> =>
  others === undefined
    ? { "Content-Type": "application/json", "User-Agent": `Inlet/${version}`, ...signature }
    : { ...others, "User-Agent": `Inlet/${version}`, ...signature }
