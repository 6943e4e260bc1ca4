import { Schema } from "effect"

/** A key or a secret in an answer. */
export const Secret = (what: string) => Schema.String.annotate({ description: `${what}, shown only once` })
