import { Redacted } from "effect"
import type { HttpClientError } from "effect/http"

/** The cause's code, which is more specific than the client's message. */
export const reasonOf = ({ reason }: HttpClientError.HttpClientError): string => {
  const cause = "cause" in reason ? reason.cause : undefined
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : reason._tag
}

/** Whether a status is a server error. */
export const inTrouble = (status: number): boolean => status === 429 || status >= 500

/** The vendor's message on one line, without secrets. */
export const inWords = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  secrets
    .reduce((words, secret) => words.replaceAll(Redacted.value(secret), "***"), text)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 300)
