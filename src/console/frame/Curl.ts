import type { SignedRequest } from "../api/Contract.ts"

/** A text as one argument of a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The command that posts a signed request to an app on this machine. */
export const of = ({ body, headers }: SignedRequest, url = "http://localhost:4000/"): string =>
  [
    // As an argument of curl a large body would exceed the limit of the system.
    `printf %s ${quoted(body)} |\n  curl -X POST ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    "--data-binary @-"
  ].join(" \\\n  ")
