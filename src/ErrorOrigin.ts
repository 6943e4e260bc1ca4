import { Predicate } from "effect"

/** The message of the innermost error, because outer ones only name the part that failed. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return messageOf(error.cause)
  // Node's error for several addresses has only a code.
  return error.message === "" && Predicate.hasProperty(error, "code") ? `${error.code}` : error.message
}
